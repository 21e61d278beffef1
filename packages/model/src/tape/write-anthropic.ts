import { isRecord, textOf, toObject, toObjects, type JsonObject } from '../json/attribute-value.ts'
import type { Part } from '../session/message.ts'
import type { Usage } from '../session/usage.ts'
import { halves, piecesOf, sse, type Finish } from './recorded-answer.ts'
import { withoutEnding, type ResponseWriter } from './response-writer.ts'
import { parseJson } from '../json/json-text.ts'

const stopWords: Record<Finish, string> = {
  stop: 'end_turn',
  tool: 'tool_use',
  length: 'max_tokens',
  filter: 'refusal',
}

const errorTypes: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  529: 'overloaded_error',
}

const ownWord = /_error$/

const ending = /^event: (?:message_delta|message_stop|content_block_stop)\n/

/** Anthropic's messages API. */
export const anthropicWriter: ResponseWriter = {
  write: ({ id, model, replies: [reply], usage }) => ({
    id,
    type: 'message',
    role: 'assistant',
    model,
    content: reply!.parts.flatMap((part, index) => writeBlock(part, `toolu_taped${index}`)),
    stop_reason: stopWords[reply!.finish],
    stop_sequence: null,
    usage: writeUsage(usage ?? {}),
  }),
  stream: (response, _request, pieces) => {
    const { content, stop_reason: reason, stop_sequence: sequence, error, ...head } = response
    const usage = toObject(head.usage)
    const start = {
      ...head,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { ...usage, output_tokens: 1 },
    }
    const events = [
      event('message_start', { message: start }),
      ...toObjects(content).flatMap((block, index) => streamBlock(block, index, pieces)),
    ]
    if (error !== undefined) return [...withoutEnding(events, ending), event('error', { error })]
    return [
      ...events,
      event('message_delta', {
        delta: { stop_reason: reason ?? null, stop_sequence: sequence ?? null },
        usage: { output_tokens: usage.output_tokens ?? 0 },
      }),
      event('message_stop', {}),
    ]
  },
  ending,
  streamType: () => 'text/event-stream',
  writeError: ({ type, message, status }) => ({
    type: 'error',
    error: { type: ownWord.test(type) ? type : (errorTypes[status] ?? 'api_error'), message },
  }),
}

function event(type: string, fields: JsonObject): string {
  return sse({ type, ...fields }, type)
}

function writeBlock(part: Part, newId: string): JsonObject[] {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return [{ type: 'text', text: part.text }]
    case 'reasoning':
      return part.isRedacted === true && part.text === undefined
        ? [{ type: 'redacted_thinking', data: part.signature ?? '' }]
        : [{ type: 'thinking', thinking: part.text ?? '', signature: part.signature ?? '' }]
    case 'tool-call': {
      const type = part.isServerSide === true ? 'server_tool_use' : 'tool_use'
      return [{ type, id: part.id ?? newId, name: part.name, input: parseJson(part.arguments) ?? {} }]
    }
    case 'tool-result':
      return [
        {
          type: `${part.name ?? 'web_search'}_tool_result`,
          tool_use_id: part.id,
          content: unwrap(part.result),
        },
      ]
    case 'media':
      return []
    case 'other':
      return [toObject(part.raw)]
  }
}

/** Blocks that our capture does not know are recorded inside another. */
function unwrap(result: unknown): unknown {
  if (!Array.isArray(result)) return result
  return result.map((item: unknown) => (isRecord(item) && item.type === 'other' ? item.value : item))
}

/** Anthropic counts what was read from the cache and written to it apart from the input. */
function writeUsage({ input = 0, output = 0, cacheRead = 0, cacheWrite = 0 }: Usage): JsonObject {
  return {
    input_tokens: Math.max(0, input - cacheRead - cacheWrite),
    cache_creation_input_tokens: cacheWrite,
    cache_read_input_tokens: cacheRead,
    output_tokens: output,
  }
}

function streamBlock(block: JsonObject, index: number, pieces: readonly string[]): string[] {
  const start = (content: JsonObject) => event('content_block_start', { index, content_block: content })
  const delta = (fields: JsonObject) => event('content_block_delta', { index, delta: fields })
  const stop = event('content_block_stop', { index })
  switch (block.type) {
    case 'text': {
      const texts = piecesOf(textOf(block.text), pieces)
      return [
        start({ ...block, text: '' }),
        ...texts.map((text) => delta({ type: 'text_delta', text })),
        stop,
      ]
    }
    case 'thinking': {
      const { thinking, signature } = block
      return [
        start({ ...block, thinking: '', signature: '' }),
        ...halves(textOf(thinking)).map((text) => delta({ type: 'thinking_delta', thinking: text })),
        ...(textOf(signature) === '' ? [] : [delta({ type: 'signature_delta', signature })]),
        stop,
      ]
    }
    case 'tool_use':
    case 'server_tool_use':
    case 'mcp_tool_use': {
      const json = JSON.stringify(block.input ?? {})
      return [
        start({ ...block, input: {} }),
        ...halves(json).map((half) => delta({ type: 'input_json_delta', partial_json: half })),
        stop,
      ]
    }
    default:
      return [start(block), stop]
  }
}
