import { toNumber, toObjects, toText, type JsonObject } from '../json-value.ts'
import type { Answer, Assembler, ModelApi, Question, StreamedPiece } from './model-api.ts'
import { answerFacts } from './openai-answer.ts'
import { chatParameters } from './openai-chat.ts'

/** Plain completions: a text in, a text out. */
export const openAiCompletions: ModelApi = {
  readQuestion,
  readAnswer,
  createAssembler: () => new CompletionAssembler(),
}

function readQuestion(body: JsonObject): Question {
  const model = toText(body.model)
  const prompts = Array.isArray(body.prompt) ? body.prompt : [body.prompt]
  const texts = prompts.filter((prompt) => typeof prompt === 'string')
  return {
    operation: 'text_completion',
    ...(model !== undefined && { model }),
    isStream: body.stream === true,
    messages: texts.map((content) => ({ role: 'user', parts: [{ type: 'text', content }] })),
    attributes: chatParameters(body),
  }
}

function readAnswer(body: JsonObject): Answer {
  const choices = toObjects(body.choices)
  return {
    ...answerFacts(body),
    messages: choices.map(({ text, finish_reason: reason }) => ({
      role: 'assistant',
      parts: [{ type: 'text', content: toText(text) ?? '' }],
      ...(typeof reason === 'string' && { finish_reason: reason }),
    })),
    finishReasons: choices.flatMap(({ finish_reason: reason }) => toText(reason) ?? []),
  }
}

class CompletionAssembler implements Assembler {
  #fields: JsonObject = {}
  readonly #choices: JsonObject[] = []

  add(event: JsonObject): StreamedPiece {
    const { choices, ...fields } = event
    for (const [field, value] of Object.entries(fields))
      if (value !== null && value !== undefined) this.#fields[field] = value
    let text = ''
    for (const raw of toObjects(choices)) {
      const index = toNumber(raw.index) ?? 0
      const choice = (this.#choices[index] ??= { index, text: '' })
      const piece = toText(raw.text) ?? ''
      choice.text = `${String(choice.text)}${piece}`
      if (typeof raw.finish_reason === 'string') choice.finish_reason = raw.finish_reason
      if (index === 0) text += piece
    }
    return { ...(text !== '' && { text }), isToken: text !== '', isLast: fields.error !== undefined }
  }

  whole(): JsonObject {
    return { ...this.#fields, choices: this.#choices.filter((choice) => choice !== undefined) }
  }
}
