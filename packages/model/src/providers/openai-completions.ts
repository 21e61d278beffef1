import { textOf, toNumber, toObjects, type JsonObject } from '../json/attribute-value.ts'
import {
  textField,
  type ModelApi,
  type ModelRequest,
  type ModelResponse,
  type StreamAssembler,
  type StreamDelta,
} from './model-api.ts'
import { append, chatParameters, openAiFacts } from './openai-chat.ts'

/** Plain completions: text in, text out. */
export const openAiCompletions: ModelApi = {
  readRequest,
  readResponse,
  createAssembler: () => new CompletionAssembler(),
}

function readRequest(body: JsonObject): ModelRequest {
  const prompts = Array.isArray(body.prompt) ? body.prompt : [body.prompt]
  const texts = prompts.filter((prompt) => typeof prompt === 'string')
  return {
    operation: 'text_completion',
    ...textField('model', body.model),
    isStream: body.stream === true,
    messages: texts.map((text) => ({ role: 'user', parts: [{ type: 'text', text }] })),
    attributes: chatParameters(body),
  }
}

function readResponse(body: JsonObject): ModelResponse {
  const choices = toObjects(body.choices)
  return {
    ...openAiFacts(body),
    messages: choices.map(({ text, finish_reason: reason }) => ({
      role: 'assistant',
      parts: [{ type: 'text', text: textOf(text) }],
      ...textField('finishReason', reason),
    })),
    finishReasons: choices.flatMap(({ finish_reason: reason }) => textOf(reason) || []),
  }
}

class CompletionAssembler implements StreamAssembler {
  readonly #fields: JsonObject = {}
  readonly #choices: JsonObject[] = []

  add(event: JsonObject): StreamDelta {
    const { choices, ...fields } = event
    for (const [field, value] of Object.entries(fields))
      if (value !== null && value !== undefined) this.#fields[field] = value
    let text = ''
    for (const raw of toObjects(choices)) {
      const index = toNumber(raw.index) ?? 0
      const choice = (this.#choices[index] ??= { index, text: '' })
      append(choice, 'text', textOf(raw.text))
      if (typeof raw.finish_reason === 'string') choice.finish_reason = raw.finish_reason
      if (index === 0) text += textOf(raw.text)
    }
    return { ...textField('text', text), isToken: text !== '', isLast: fields.error !== undefined }
  }

  response(): JsonObject {
    return { ...this.#fields, choices: this.#choices.filter((choice) => choice !== undefined) }
  }
}
