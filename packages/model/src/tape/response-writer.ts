import type { JsonObject } from '../json/attribute-value.ts'
import type { RecordedAnswer } from './recorded-answer.ts'

/** The request that is answered. It decides the form of the answer. */
export type LiveRequest = { url: URL; body: JsonObject }

/** Writes recorded answers in the form of one provider's API. */
export type ResponseWriter = {
  /** The response without streaming. */
  write(answer: RecordedAnswer, request: LiveRequest): JsonObject
  /** The same response as a stream, event by event. `pieces` is how its text was cut. */
  stream(response: JsonObject, request: LiveRequest, pieces: readonly string[]): string[]
  streamType(request: LiveRequest): string
  /** The body of a failed response. */
  writeError(error: { type: string; message: string; status: number }): JsonObject
}
