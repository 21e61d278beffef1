import type { JsonObject } from '../json/attribute-value.ts'
import type { RecordedAnswer } from './recorded-answer.ts'

/** The request that is answered. It decides the form of the answer. */
export type LiveRequest = { url: URL; body: JsonObject }

/** Writes recorded answers in the form of one provider's API. */
export type ResponseWriter = {
  /** The response without streaming. */
  write(answer: RecordedAnswer, request: LiveRequest): JsonObject
  /** Adds what every response has to one that capture put together from a stream. */
  complete?(kept: JsonObject, answer: RecordedAnswer): JsonObject
  /** The same response as a stream, event by event, up to the error that it may report. `pieces` is how its text was cut. */
  stream(response: JsonObject, request: LiveRequest, pieces: readonly string[]): string[]
  /** Matches the events of a stream that only say that something is complete. */
  ending: RegExp
  streamType(request: LiveRequest): string
  /** The body of a failed response. */
  writeError(error: { type: string; message: string; status: number }): JsonObject
}

/** The events of a stream up to where it broke off. */
export function withoutEnding(events: readonly string[], ending: RegExp): string[] {
  return events.slice(0, events.findLastIndex((event) => !ending.test(event)) + 1)
}
