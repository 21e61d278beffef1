import { asList, asObject, type JsonObject } from './json.ts'
import type { ModelRequest } from './model-request.ts'
import type { PreparedReply } from './prepare-reply.ts'

const DIMENSIONS = 8

export function answerOpenAiEmbeddings({ body }: ModelRequest, reply: PreparedReply): JsonObject {
  const inputs = Array.isArray(body.input) && typeof body.input[0] !== 'number' ? body.input : [body.input]
  const size = typeof body.dimensions === 'number' ? body.dimensions : DIMENSIONS
  return {
    object: 'list',
    data: inputs.map((input, index) => {
      const vector = vectorOf(JSON.stringify(input), size)
      const embedding = body.encoding_format === 'base64' ? toBase64(vector) : vector
      return { object: 'embedding', index, embedding }
    }),
    model: reply.model,
    usage: { prompt_tokens: reply.usage.input, total_tokens: reply.usage.input },
  }
}

export function answerGeminiEmbeddings({ body, path }: ModelRequest): JsonObject {
  const values = (content: unknown) => ({ values: vectorOf(JSON.stringify(content), DIMENSIONS) })
  if (path.endsWith(':embedContent')) return { embedding: values(body.content) }
  return { embeddings: asList(body.requests).map((request) => values(asObject(request).content)) }
}

/** A deterministic vector with values between -1 and 1. */
function vectorOf(text: string, size: number): number[] {
  let state = 2_166_136_261
  for (const character of text) state = Math.imul(state ^ character.codePointAt(0)!, 16_777_619)
  return Array.from({ length: size }, () => {
    state = Math.imul(state, 1_664_525) + 1_013_904_223
    return Math.fround((state | 0) / 2_147_483_648)
  })
}

function toBase64(vector: number[]): string {
  return Buffer.from(new Float32Array(vector).buffer).toString('base64')
}
