import { textOf, toObject, type JsonObject } from '../json/attribute-value.ts'
import type { ProviderMessage } from './messages.ts'
import {
  attributesFrom,
  createWholeAssembler,
  textField,
  type ModelApi,
  type ModelRequest,
  type ModelResponse,
} from './model-api.ts'
import { readUsage } from './usage.ts'

/** Embeddings. The vectors are not recorded. */
export const openAiEmbeddings: ModelApi = {
  readRequest,
  readResponse,
  createAssembler: createWholeAssembler,
}

function readRequest(body: JsonObject): ModelRequest {
  const format = textOf(body.encoding_format)
  return {
    operation: 'embeddings',
    ...textField('model', body.model),
    isStream: false,
    messages: embeddedTexts(body.input ?? body.prompt),
    attributes: {
      ...attributesFrom(body, { dimensions: 'gen_ai.embeddings.dimension.count' }),
      ...(format !== '' && { 'gen_ai.request.encoding_formats': [format] }),
    },
  }
}

/** The embedded texts as one message. Token ids are left out: nobody can read them. */
export function embeddedTexts(input: unknown): ProviderMessage[] {
  const items = Array.isArray(input) ? input : [input]
  const parts = items
    .map((item) => ({ type: 'text' as const, text: textOf(item) || textOf(toObject(item).text) }))
    .filter(({ text }) => text !== '')
  return parts.length === 0 ? [] : [{ role: 'user', parts }]
}

function readResponse(body: JsonObject): ModelResponse {
  const { output: _output, ...usage } = readUsage(body.usage) ?? {}
  return { ...textField('model', body.model), messages: [], finishReasons: [], usage }
}
