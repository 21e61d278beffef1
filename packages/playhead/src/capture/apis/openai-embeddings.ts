import { toObject, toText, type JsonObject } from '../json-value.ts'
import type { Answer, ChatMessage, ModelApi, Question } from './model-api.ts'
import { wholeAssembler } from './whole-assembler.ts'
import { openAiUsage } from './openai-usage.ts'
import { attributesFrom } from './request-attributes.ts'

/** Embeddings. The vectors are not recorded. */
export const openAiEmbeddings: ModelApi = { readQuestion, readAnswer, createAssembler: wholeAssembler }

function readQuestion(body: JsonObject): Question {
  const model = toText(body.model)
  const format = toText(body.encoding_format)
  return {
    operation: 'embeddings',
    ...(model !== undefined && { model }),
    isStream: false,
    messages: embeddedTexts(body.input ?? body.prompt),
    attributes: {
      ...attributesFrom(body, { dimensions: 'gen_ai.embeddings.dimension.count' }),
      ...(format !== undefined && { 'gen_ai.request.encoding_formats': [format] }),
    },
  }
}

/** What was embedded, as one message: texts, or lists of tokens that say nothing to a reader. */
export function embeddedTexts(input: unknown): ChatMessage[] {
  const items = Array.isArray(input) ? input : [input]
  const texts = items.map((item) => toText(item) ?? toText(toObject(item).text))
  const parts = texts.flatMap((content) =>
    content === undefined ? [] : [{ type: 'text' as const, content }],
  )
  return parts.length === 0 ? [] : [{ role: 'user', parts }]
}

function readAnswer(body: JsonObject): Answer {
  const usage = openAiUsage(body.usage)
  const model = toText(body.model)
  return {
    ...(model !== undefined && { model }),
    messages: [],
    finishReasons: [],
    ...(usage !== undefined && { usage: withoutOutput(usage) }),
  }
}

function withoutOutput({ output: _output, ...usage }: NonNullable<Answer['usage']>) {
  return usage
}
