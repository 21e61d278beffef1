import { textOf, toObject, toObjects, type JsonObject } from '../json/attribute-value.ts'
import type { Usage } from '../session/usage.ts'
import { piecesOf, type Finish } from './recorded-answer.ts'
import type { LiveRequest, ResponseWriter } from './response-writer.ts'

const doneWords: Record<Finish, string> = { stop: 'stop', tool: 'stop', length: 'length', filter: 'stop' }

/** Ollama's chat and generate. */
export const ollamaWriter: ResponseWriter = {
  write: ({ model, createdAt, replies: [reply], usage }, request) => {
    const { text, reasoning, calls, finish } = reply!
    return {
      model,
      created_at: new Date(createdAt * 1000).toISOString(),
      ...(isGenerate(request)
        ? { response: text, ...(reasoning !== '' && { thinking: reasoning }) }
        : {
            message: {
              role: 'assistant',
              content: text,
              ...(reasoning !== '' && { thinking: reasoning }),
              ...(calls.length > 0 && {
                tool_calls: calls.map(({ name, arguments: given }) => ({
                  function: { name, arguments: given },
                })),
              }),
            },
          }),
      done: true,
      done_reason: doneWords[finish],
      ...writeUsage(usage ?? {}),
    }
  },
  stream: (response, request, pieces) => {
    const { model, created_at: createdAt, message, response: text, thinking, ...end } = response
    const head = { model, created_at: createdAt }
    const line = (fields: JsonObject) => `${JSON.stringify({ ...head, ...fields })}\n`
    if (text !== undefined || isGenerate(request)) {
      const whole = textOf(text) || textOf(toObject(message).content)
      return [
        ...piecesOf(textOf(thinking), []).map((piece) =>
          line({ response: '', thinking: piece, done: false }),
        ),
        ...piecesOf(whole, pieces).map((piece) => line({ response: piece, done: false })),
        line({ response: '', ...end }),
      ]
    }
    const { content, tool_calls: calls, thinking: thought } = toObject(message)
    const part = (fields: JsonObject) =>
      line({ message: { role: 'assistant', content: '', ...fields }, done: false })
    return [
      ...piecesOf(textOf(thought), []).map((piece) => part({ thinking: piece })),
      ...piecesOf(textOf(content), pieces).map((piece) => part({ content: piece })),
      ...toObjects(calls).map((call) => part({ tool_calls: [call] })),
      line({ message: { role: 'assistant', content: '' }, ...end }),
    ]
  },
  ending: /"done":true/,
  streamType: () => 'application/x-ndjson',
  writeError: ({ message }) => ({ error: message }),
}

function isGenerate({ url }: LiveRequest): boolean {
  return url.pathname.endsWith('/api/generate')
}

function writeUsage({ input, output }: Usage): JsonObject {
  return {
    ...(input !== undefined && { prompt_eval_count: input }),
    ...(output !== undefined && { eval_count: output }),
  }
}
