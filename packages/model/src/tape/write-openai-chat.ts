import { textOf, toObject, toObjects, type JsonObject } from '../json/attribute-value.ts'
import type { Usage } from '../session/usage.ts'
import { argumentText, halves, piecesOf, sse, type Finish, type Reply } from './recorded-answer.ts'
import { withoutEnding, type ResponseWriter } from './response-writer.ts'

const finishWords: Record<Finish, string> = {
  stop: 'stop',
  tool: 'tool_calls',
  length: 'length',
  filter: 'content_filter',
}

const chatEnding = /^data: (?:\[DONE\]|.*"(?:choices":\[\]|delta":\{\}))/

/** Chat completions of OpenAI and of every host that is compatible with it. */
export const chatWriter: ResponseWriter = {
  write: ({ id, model, createdAt, replies, usage }) => ({
    id,
    object: 'chat.completion',
    created: createdAt,
    model,
    choices: replies.map((reply, index) => ({
      index,
      message: writeMessage(reply),
      logprobs: null,
      finish_reason: finishWords[reply.finish],
    })),
    ...(usage !== undefined && { usage: writeUsage(usage) }),
  }),
  complete: ({ choices, ...kept }, { createdAt }) => ({
    object: 'chat.completion',
    created: createdAt,
    ...kept,
    choices: toObjects(choices).map((choice) => ({ ...choice, message: completeMessage(choice.message) })),
  }),
  stream: (response, { body }, pieces) => {
    const { choices, usage, error, ...head } = response
    const chunk = (fields: JsonObject) => sse({ ...head, object: 'chat.completion.chunk', ...fields })
    const events = toObjects(choices).flatMap((choice) =>
      streamChoice(choice, pieces).map((delta) => chunk({ choices: [delta] })),
    )
    if (error !== undefined) return [...withoutEnding(events, chatEnding), sse({ error })]
    const hasUsage = toObject(body.stream_options).include_usage === true
    return [
      ...events,
      ...(hasUsage && usage !== undefined ? [chunk({ choices: [], usage })] : []),
      sse('[DONE]'),
    ]
  },
  ending: chatEnding,
  streamType: () => 'text/event-stream',
  writeError: writeOpenAiError,
}

export function writeOpenAiError({
  type,
  message,
  status,
}: {
  type: string
  message: string
  status: number
}) {
  const kind = status === 429 ? 'rate_limit_error' : status >= 500 ? 'server_error' : 'invalid_request_error'
  if (type.endsWith('_error')) return { error: { message, type, param: null, code: null } }
  // Without a word, the status was recorded.
  return {
    error: { message, type: kind, param: null, code: type === '' || /^\d+$/.test(type) ? null : type },
  }
}

function writeMessage({ text, reasoning, calls, parts }: Reply): JsonObject {
  const refusal = parts.map((part) => (part.type === 'refusal' ? part.text : '')).join('')
  return {
    role: 'assistant',
    content: text === '' && (calls.length > 0 || refusal !== '') ? null : text,
    refusal: refusal === '' ? null : refusal,
    ...(reasoning !== '' && { reasoning_content: reasoning }),
    ...(calls.length > 0 && {
      tool_calls: calls.map(({ id, name, arguments: given }) => ({
        id,
        type: 'function',
        function: { name, arguments: argumentText(given) },
      })),
    }),
  }
}

/** Clients refuse a call without its type, and read `content` as null, never as missing. */
function completeMessage(message: unknown): JsonObject {
  const { tool_calls: calls, ...rest } = toObject(message)
  return {
    role: 'assistant',
    content: null,
    refusal: null,
    ...rest,
    ...(calls !== undefined && {
      tool_calls: toObjects(calls).map((call) => ({ type: 'function', ...call })),
    }),
  }
}

function writeUsage({ input, output, total, cacheRead, reasoning }: Usage): JsonObject {
  return {
    prompt_tokens: input ?? 0,
    completion_tokens: output ?? 0,
    total_tokens: total ?? (input ?? 0) + (output ?? 0),
    ...(cacheRead !== undefined && { prompt_tokens_details: { cached_tokens: cacheRead } }),
    ...(reasoning !== undefined && { completion_tokens_details: { reasoning_tokens: reasoning } }),
  }
}

function streamChoice(choice: JsonObject, pieces: readonly string[]): JsonObject[] {
  const { message, finish_reason: reason, index } = choice
  const { content, refusal, tool_calls: calls, reasoning_content: thought, ...rest } = toObject(message)
  const delta = (fields: JsonObject) => ({ index, delta: fields, logprobs: null, finish_reason: null })
  return [
    delta({ ...rest, role: 'assistant', content: calls === undefined ? '' : null, refusal: null }),
    ...piecesOf(textOf(thought), []).map((text) => delta({ reasoning_content: text })),
    ...(Array.isArray(content) ? [delta({ content })] : []),
    ...piecesOf(textOf(content), pieces).map((text) => delta({ content: text })),
    ...piecesOf(textOf(refusal), pieces).map((text) => delta({ refusal: text })),
    ...toObjects(calls).flatMap((call, position) => streamCall(call, position).map(delta)),
    { index, delta: {}, logprobs: null, finish_reason: reason ?? 'stop' },
  ]
}

function streamCall({ function: called, ...call }: JsonObject, index: number): JsonObject[] {
  if (called === undefined) return [{ tool_calls: [{ index, ...call }] }]
  const { name, arguments: given } = toObject(called)
  const start = { tool_calls: [{ index, ...call, function: { name, arguments: '' } }] }
  const rest = halves(textOf(given)).map((half) => ({
    tool_calls: [{ index, function: { arguments: half } }],
  }))
  return [start, ...rest]
}

/** OpenAI's older text completions. */
export const completionsWriter: ResponseWriter = {
  write: ({ id, model, createdAt, replies, usage }) => ({
    id,
    object: 'text_completion',
    created: createdAt,
    model,
    choices: replies.map(({ text, finish }, index) => ({
      index,
      text,
      logprobs: null,
      finish_reason: finishWords[finish],
    })),
    ...(usage !== undefined && { usage: writeUsage(usage) }),
  }),
  stream: ({ choices, usage, ...head }, { body }, pieces) => {
    const events = toObjects(choices).flatMap(({ text, finish_reason: reason, index }) => {
      const cut = piecesOf(textOf(text), pieces)
      return cut.map((piece, position) =>
        sse({
          ...head,
          choices: [
            {
              index,
              text: piece,
              logprobs: null,
              finish_reason: position === cut.length - 1 ? reason : null,
            },
          ],
        }),
      )
    })
    const hasUsage = toObject(body.stream_options).include_usage === true && usage !== undefined
    return [...events, ...(hasUsage ? [sse({ ...head, choices: [], usage })] : []), sse('[DONE]')]
  },
  ending: chatEnding,
  streamType: () => 'text/event-stream',
  writeError: writeOpenAiError,
}
