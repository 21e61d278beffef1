import { isRecord, textOf, toObject, toObjects, type JsonObject } from '../json/attribute-value.ts'
import type { Part } from '../session/message.ts'
import type { Usage } from '../session/usage.ts'
import { argumentText, halves, piecesOf, sse, type RecordedAnswer } from './recorded-answer.ts'
import { withoutEnding, type ResponseWriter } from './response-writer.ts'
import { writeOpenAiError } from './write-openai-chat.ts'

const ending = /^event: response\.(?:completed|failed|incomplete|.*\.done)\n/

/** OpenAI's responses API. */
export const responsesWriter: ResponseWriter = {
  write: (answer, { body }) => ({ ...echo(body), ...writeResponse(answer) }),
  stream: (response, { body }, pieces) => {
    const whole = { ...echo(body), ...response }
    let number = 0
    const event = (type: string, fields: JsonObject) =>
      sse({ type, ...fields, sequence_number: number++ }, type)
    const begun = { ...whole, status: 'in_progress', output: [], usage: null }
    const end =
      whole.status === 'failed' ? 'failed' : whole.status === 'incomplete' ? 'incomplete' : 'completed'
    const events = [
      event('response.created', { response: begun }),
      event('response.in_progress', { response: begun }),
      ...toObjects(whole.output).flatMap((item, index) =>
        streamItem(item, pieces).map(([type, fields]) => event(type, { output_index: index, ...fields })),
      ),
    ]
    if (isRecord(whole.error) && end !== 'failed')
      return [...withoutEnding(events, ending), event('error', { param: null, ...whole.error })]
    return [...events, event(`response.${end}`, { response: whole })]
  },
  ending,
  streamType: () => 'text/event-stream',
  writeError: writeOpenAiError,
}

/** A response repeats these fields of its request. */
const echoed = ['instructions', 'tools', 'tool_choice', 'parallel_tool_calls', 'temperature', 'top_p', 'text']
const defaults = {
  tools: [],
  tool_choice: 'auto',
  parallel_tool_calls: true,
  text: { format: { type: 'text' } },
}

function echo(body: JsonObject): JsonObject {
  const given = echoed.flatMap((field) => (body[field] === undefined ? [] : [[field, body[field]]]))
  return { instructions: null, ...defaults, ...(Object.fromEntries(given) as JsonObject) }
}

function writeResponse({ id, model, createdAt, replies: [reply], usage }: RecordedAnswer): JsonObject {
  const { parts, finish } = reply!
  const isCut = finish === 'length' || (finish === 'filter' && !parts.some(({ type }) => type === 'refusal'))
  return {
    id,
    object: 'response',
    created_at: createdAt,
    status: isCut ? 'incomplete' : 'completed',
    error: null,
    incomplete_details: isCut
      ? { reason: finish === 'length' ? 'max_output_tokens' : 'content_filter' }
      : null,
    model,
    output: writeItems(parts, id),
    metadata: {},
    ...(usage !== undefined && { usage: writeUsage(usage) }),
  }
}

/** Text and refusals next to each other are one message; everything else is an item of its own. */
function writeItems(parts: readonly Part[], id: string): JsonObject[] {
  const items: JsonObject[] = []
  for (const [index, part] of parts.entries()) {
    if (part.type !== 'text' && part.type !== 'refusal') {
      items.push(...writeItem(part, `${id}_${index}`))
      continue
    }
    const content =
      part.type === 'text'
        ? { type: 'output_text', text: part.text, annotations: [], logprobs: [] }
        : { type: 'refusal', refusal: part.text }
    const last = items.at(-1)
    if (last?.type === 'message') (last.content as JsonObject[]).push(content)
    else
      items.push({
        type: 'message',
        id: `msg_${id}_${index}`,
        status: 'completed',
        role: 'assistant',
        content: [content],
      })
  }
  return items
}

function writeItem(part: Part, newId: string): JsonObject[] {
  switch (part.type) {
    case 'tool-call':
      if (part.isServerSide === true) return [writeServerCall(part, newId)]
      return [
        {
          type: 'function_call',
          id: `fc_${newId}`,
          call_id: part.id ?? `call_${newId}`,
          name: part.name,
          arguments: argumentText(part.arguments),
          status: 'completed',
        },
      ]
    case 'reasoning':
      return [
        {
          type: 'reasoning',
          id: `rs_${newId}`,
          summary: part.text === undefined ? [] : [{ type: 'summary_text', text: part.text }],
          ...(part.signature !== undefined && { encrypted_content: part.signature }),
        },
      ]
    case 'other':
      return isRecord(part.raw) ? [part.raw] : []
    default:
      return []
  }
}

/** The calls of OpenAI's own tools have their arguments in `action`, or as fields. Everything else runs at an MCP server. */
const toolsWithAction = new Set(['web_search', 'computer', 'local_shell'])
const toolsWithFields = new Set(['file_search', 'code_interpreter', 'image_generation'])

function writeServerCall(part: Extract<Part, { type: 'tool-call' }>, newId: string): JsonObject {
  const { name, id = newId, arguments: given } = part
  const call = { id, status: 'completed' }
  if (toolsWithAction.has(name)) return { type: `${name}_call`, ...call, call_id: id, action: given }
  if (toolsWithFields.has(name)) return { type: `${name}_call`, ...call, ...toObject(given) }
  return { type: 'mcp_call', ...call, name, server_label: name, arguments: argumentText(given), output: null }
}

function writeUsage({ input = 0, output = 0, total, cacheRead = 0, reasoning = 0 }: Usage): JsonObject {
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cacheRead },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: total ?? input + output,
  }
}

type Event = [type: string, fields: JsonObject]

function streamItem(item: JsonObject, pieces: readonly string[]): Event[] {
  const begun = { ...item, ...(item.status !== undefined && { status: 'in_progress' }), ...emptied(item) }
  return [
    ['response.output_item.added', { item: begun }],
    ...streamContent(item, pieces),
    ['response.output_item.done', { item }],
  ]
}

function emptied({ type }: JsonObject): JsonObject {
  if (type === 'message') return { content: [] }
  if (type === 'function_call') return { arguments: '' }
  if (type === 'custom_tool_call') return { input: '' }
  return type === 'reasoning' ? { summary: [] } : {}
}

function streamContent(item: JsonObject, pieces: readonly string[]): Event[] {
  const id = { item_id: item.id }
  switch (item.type) {
    case 'message':
      return toObjects(item.content).flatMap((part, index) =>
        streamPart(part, { ...id, content_index: index }, pieces),
      )
    case 'function_call':
      return [
        ...halves(textOf(item.arguments)).map((delta): Event => [
          'response.function_call_arguments.delta',
          { ...id, delta },
        ]),
        ['response.function_call_arguments.done', { ...id, name: item.name, arguments: item.arguments }],
      ]
    case 'custom_tool_call':
      return [
        ...halves(textOf(item.input)).map((delta): Event => [
          'response.custom_tool_call_input.delta',
          { ...id, delta },
        ]),
        ['response.custom_tool_call_input.done', { ...id, input: item.input }],
      ]
    case 'reasoning':
      return toObjects(item.summary).flatMap((part, index) =>
        streamSummary(part, { ...id, summary_index: index }),
      )
    default:
      return []
  }
}

function streamPart(part: JsonObject, place: JsonObject, pieces: readonly string[]): Event[] {
  const isRefusal = part.type === 'refusal'
  const [name, field] = isRefusal ? ['refusal', 'refusal'] : ['output_text', 'text']
  const text = textOf(part[field])
  const logprobs = isRefusal ? {} : { logprobs: [] }
  return [
    ['response.content_part.added', { ...place, part: { ...part, [field]: '' } }],
    ...piecesOf(text, pieces).map((delta): Event => [
      `response.${name}.delta`,
      { ...place, delta, ...logprobs },
    ]),
    [`response.${name}.done`, { ...place, [field]: text, ...logprobs }],
    ['response.content_part.done', { ...place, part }],
  ]
}

function streamSummary(part: JsonObject, place: JsonObject): Event[] {
  const text = textOf(part.text)
  return [
    ['response.reasoning_summary_part.added', { ...place, part: { ...part, text: '' } }],
    ...halves(text).map((delta): Event => ['response.reasoning_summary_text.delta', { ...place, delta }]),
    ['response.reasoning_summary_text.done', { ...place, text }],
    ['response.reasoning_summary_part.done', { ...place, part }],
  ]
}
