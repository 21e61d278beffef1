import { inPieces, serverSentEvent, type ProviderResponse } from './answer.ts'
import type { JsonObject } from './json.ts'
import type { ModelRequest } from './model-request.ts'
import type { PreparedReply } from './prepare-reply.ts'

export function answerOpenAiResponses(request: ModelRequest, reply: PreparedReply): ProviderResponse {
  const output = outputItems(reply)
  const whole = responseOf(request, reply, { output, status: 'completed' })
  return {
    whole,
    events: responseEvents(request, reply, output, whole),
    eventType: 'text/event-stream',
  }
}

function responseOf(
  { body }: ModelRequest,
  reply: PreparedReply,
  { output, status }: { output: JsonObject[]; status: string },
): JsonObject {
  return {
    id: reply.id,
    object: 'response',
    created_at: 1_760_000_000,
    status,
    error: null,
    incomplete_details: null,
    instructions: body.instructions ?? null,
    model: reply.model,
    output,
    parallel_tool_calls: true,
    previous_response_id: body.previous_response_id ?? null,
    reasoning: { effort: null, summary: null },
    service_tier: 'default',
    store: true,
    temperature: 1,
    text: body.text ?? { format: { type: 'text' } },
    tool_choice: 'auto',
    tools: body.tools ?? [],
    top_p: 1,
    truncation: 'disabled',
    usage: status === 'completed' ? responsesUsage(reply) : null,
    metadata: {},
  }
}

function outputItems(reply: PreparedReply): JsonObject[] {
  const items: JsonObject[] = []
  if (reply.reasoning !== '') {
    const summary = [{ type: 'summary_text', text: reply.reasoning }]
    items.push({ id: `rs_${reply.id}`, type: 'reasoning', summary })
  }
  if (reply.text !== '' || reply.refusal !== '') {
    const content =
      reply.refusal === ''
        ? [{ type: 'output_text', text: reply.text, annotations: [], logprobs: [] }]
        : [{ type: 'refusal', refusal: reply.refusal }]
    items.push({ id: `msg_${reply.id}`, type: 'message', status: 'completed', role: 'assistant', content })
  }
  for (const [index, call] of reply.toolCalls.entries()) {
    items.push({
      id: `fc_${reply.id}_${index}`,
      type: 'function_call',
      status: 'completed',
      call_id: call.id,
      name: call.name,
      arguments: call.arguments,
    })
  }
  return items
}

function responseEvents(
  request: ModelRequest,
  reply: PreparedReply,
  output: JsonObject[],
  whole: JsonObject,
): string[] {
  const events: string[] = []
  const send = (type: string, data: JsonObject) => {
    events.push(serverSentEvent({ type, sequence_number: events.length, ...data }, type))
  }
  const started = responseOf(request, reply, { output: [], status: 'in_progress' })
  send('response.created', { response: started })
  send('response.in_progress', { response: started })
  for (const [output_index, item] of output.entries()) {
    const place = { output_index, item_id: item.id }
    if (item.type === 'message') sendMessage(send, reply, item, place)
    else if (item.type === 'reasoning') sendReasoning(send, reply, item, place)
    else sendCall(send, item, place)
  }
  if (reply.streamError !== undefined) {
    send('error', {
      code: reply.streamError.type ?? 'server_error',
      message: reply.streamError.message,
      param: null,
    })
    return events
  }
  send('response.completed', { response: whole })
  return events
}

type Send = (type: string, data: JsonObject) => void
type Place = { output_index: number; item_id: unknown }

function sendMessage(send: Send, reply: PreparedReply, item: JsonObject, place: Place): void {
  const { output_index } = place
  const part = (item.content as JsonObject[])[0]!
  const kind = part.type === 'refusal' ? 'refusal' : 'output_text'
  const empty = kind === 'refusal' ? { type: kind, refusal: '' } : { ...part, text: '' }
  send('response.output_item.added', { output_index, item: { ...item, status: 'in_progress', content: [] } })
  send('response.content_part.added', { ...place, content_index: 0, part: empty })
  const pieces = kind === 'refusal' ? inPieces(reply.refusal) : reply.chunks
  for (const delta of pieces)
    send(`response.${kind}.delta`, {
      ...place,
      content_index: 0,
      delta,
      ...(kind !== 'refusal' && { logprobs: [] }),
    })
  const done = kind === 'refusal' ? { refusal: reply.refusal } : { text: reply.text, logprobs: [] }
  send(`response.${kind}.done`, { ...place, content_index: 0, ...done })
  send('response.content_part.done', { ...place, content_index: 0, part })
  send('response.output_item.done', { output_index, item })
}

function sendReasoning(send: Send, reply: PreparedReply, item: JsonObject, place: Place): void {
  const { output_index } = place
  const part = { type: 'summary_text', text: reply.reasoning }
  send('response.output_item.added', { output_index, item: { ...item, summary: [] } })
  send('response.reasoning_summary_part.added', { ...place, summary_index: 0, part: { ...part, text: '' } })
  for (const delta of inPieces(reply.reasoning))
    send('response.reasoning_summary_text.delta', { ...place, summary_index: 0, delta })
  send('response.reasoning_summary_text.done', { ...place, summary_index: 0, text: reply.reasoning })
  send('response.reasoning_summary_part.done', { ...place, summary_index: 0, part })
  send('response.output_item.done', { output_index, item })
}

function sendCall(send: Send, item: JsonObject, place: Place): void {
  const { output_index } = place
  send('response.output_item.added', {
    output_index,
    item: { ...item, status: 'in_progress', arguments: '' },
  })
  for (const delta of inPieces(String(item.arguments)))
    send('response.function_call_arguments.delta', { ...place, delta })
  send('response.function_call_arguments.done', { ...place, name: item.name, arguments: item.arguments })
  send('response.output_item.done', { output_index, item })
}

function responsesUsage({ usage }: PreparedReply): JsonObject {
  return {
    input_tokens: usage.input,
    input_tokens_details: { cached_tokens: usage.cacheRead ?? 0 },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: usage.reasoning ?? 0 },
    total_tokens: usage.input + usage.output,
  }
}
