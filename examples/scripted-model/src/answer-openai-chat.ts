import { inPieces, serverSentEvent, type ProviderResponse } from './answer.ts'
import { asObject, type JsonObject } from './json.ts'
import type { ModelRequest } from './model-request.ts'
import type { PreparedReply } from './prepare-reply.ts'

const CREATED = 1_760_000_000

export function answerOpenAiChat(request: ModelRequest, reply: PreparedReply): ProviderResponse {
  return {
    whole: {
      id: reply.id,
      object: 'chat.completion',
      created: CREATED,
      model: reply.model,
      choices: [firstChoice(reply), ...reply.otherChoices.map(otherChoice)],
      usage: chatUsage(reply),
      service_tier: 'default',
      system_fingerprint: 'fp_scripted',
    },
    events: chatEvents(request, reply).map((event) => serverSentEvent(event)),
    eventType: 'text/event-stream',
  }
}

export function answerOpenAiCompletion(reply: PreparedReply): ProviderResponse {
  const part = (text: string, finish: string | null): JsonObject => ({
    id: reply.id,
    object: 'text_completion',
    created: CREATED,
    model: reply.model,
    choices: [{ index: 0, text, finish_reason: finish, logprobs: null }],
  })
  const events: unknown[] = reply.chunks.map((chunk) => part(chunk, null))
  events.push({ ...part('', 'stop'), usage: chatUsage(reply) }, '[DONE]')
  return {
    whole: { ...part(reply.text, 'stop'), usage: chatUsage(reply) },
    events: events.map((event) => serverSentEvent(event)),
    eventType: 'text/event-stream',
  }
}

function firstChoice(reply: PreparedReply): JsonObject {
  const message: JsonObject = {
    role: 'assistant',
    content: reply.text === '' ? null : reply.text,
    refusal: reply.refusal === '' ? null : reply.refusal,
  }
  if (reply.reasoning !== '') message.reasoning_content = reply.reasoning
  if (reply.toolCalls.length > 0) message.tool_calls = reply.toolCalls.map(toolCall)
  return { index: 0, message, logprobs: null, finish_reason: reply.finishReason ?? reply.finish }
}

function otherChoice(text: string, index: number): JsonObject {
  return { index: index + 1, message: { role: 'assistant', content: text }, finish_reason: 'stop' }
}

function toolCall({ id, name, arguments: text }: PreparedReply['toolCalls'][number]): JsonObject {
  return { id, type: 'function', function: { name, arguments: text } }
}

function chatEvents({ body }: ModelRequest, reply: PreparedReply): unknown[] {
  const chunk = (choices: unknown[], more: JsonObject = {}): JsonObject => ({
    id: reply.id,
    object: 'chat.completion.chunk',
    created: CREATED,
    model: reply.model,
    service_tier: 'default',
    system_fingerprint: 'fp_scripted',
    choices,
    ...more,
  })
  const delta = (content: JsonObject, index = 0) =>
    chunk([{ index, delta: content, logprobs: null, finish_reason: null }])
  const events: unknown[] = [delta({ role: 'assistant', content: '' })]
  for (const text of inPieces(reply.reasoning)) events.push(delta({ reasoning_content: text }))
  for (const text of reply.chunks) events.push(delta({ content: text }))
  for (const text of inPieces(reply.refusal)) events.push(delta({ refusal: text }))
  for (const [index, call] of reply.toolCalls.entries()) {
    const head = { index, id: call.id, type: 'function', function: { name: call.name, arguments: '' } }
    events.push(delta({ tool_calls: [head] }))
    for (const piece of inPieces(call.arguments))
      events.push(delta({ tool_calls: [{ index, function: { arguments: piece } }] }))
  }
  for (const [index, content] of reply.otherChoices.entries())
    events.push(delta({ role: 'assistant', content }, index + 1))
  if (reply.streamError !== undefined) return [...events, { error: reply.streamError }]
  for (let index = 0; index <= reply.otherChoices.length; index++) {
    const finish = index === 0 ? (reply.finishReason ?? reply.finish) : 'stop'
    events.push(chunk([{ index, delta: {}, logprobs: null, finish_reason: finish }]))
  }
  if (asObject(body.stream_options).include_usage === true)
    events.push(chunk([], { usage: chatUsage(reply) }))
  events.push('[DONE]')
  return events
}

function chatUsage({ usage }: PreparedReply): JsonObject {
  return {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.output,
    prompt_tokens_details: { cached_tokens: usage.cacheRead ?? 0, audio_tokens: usage.audioInput ?? 0 },
    completion_tokens_details: { reasoning_tokens: usage.reasoning ?? 0, audio_tokens: 0 },
  }
}
