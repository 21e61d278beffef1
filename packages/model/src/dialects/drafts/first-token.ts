import type { StepOutline } from '../../session/step-draft.ts'
import type { Span } from '../../otlp/span.ts'
import type { Streaming } from '../../session/step.ts'
import { toFlag, toNumber, toText } from '../../json/attribute-value.ts'
import type { SpanReading } from '../reading/dialect.ts'
import { someDialect } from '../reading/dialect-set.ts'
import { parseJson, parseJsonText } from '../../json/json-text.ts'

/** Milliseconds from the start of the step to its first token. */
export function firstTokenMs(reading: SpanReading): number | undefined {
  const { fields, span } = reading
  if (fields.firstChunkSeconds !== undefined) return fields.firstChunkSeconds * 1000
  if (fields.firstChunkMs !== undefined) return fields.firstChunkMs
  if (fields.completionStart !== undefined) return sinceStart(fields.completionStart, span.startNs)
  if (fields.serverFirstToken === undefined) return firstTokenEvent(span)
  return fields.serverFirstToken * (isInMilliseconds(reading, fields.serverFirstToken) ? 1 : 1000)
}

/** OpenInference: `First Token Stream Event`, AgentOps: `first_token_received`, Traceloop: one event for each chunk. */
const firstTokenName = /first[ _.]?(?:\w+_)?(?:token|chunk)|completion\.chunk$/i

function firstTokenEvent({ events, startNs }: Span): number | undefined {
  for (const { name, timeNs } of events)
    if (firstTokenName.test(name) && timeNs >= startNs) return Number(timeNs - startNs) / 1e6
  return undefined
}

/** More seconds than the span took are milliseconds. */
function isInMilliseconds(reading: SpanReading, value: number): boolean {
  if (someDialect(reading, 'hasFirstTokenInMs')) return true
  const { startNs, endNs } = reading.span
  return endNs !== null && value > Number(endNs - startNs) / 1e9
}

function sinceStart(text: string, startNs: bigint): number | undefined {
  const at = Date.parse(toText(parseJsonText(text)) ?? '')
  const elapsed = at - Number(startNs) / 1e6
  // These times have only milliseconds, so the first token may seem to come before the start.
  return elapsed > -1 ? Math.max(0, elapsed) : undefined
}

/** Says so itself, or by its finish reason (`abort`, `cancelled`). */
export function isStreamAborted(
  { fields }: SpanReading,
  { finishReasons = [] }: Pick<StepOutline, 'finishReasons'>,
): boolean {
  if (toFlag(fields.streamAborted) === true) return true
  return finishReasons.some((reason) => /^(?:abort(?:ed)?|cancell?ed)$/i.test(reason))
}

/** The times of the pieces of a streamed reply, if the sender recorded them. */
export function streamingOf({ fields }: SpanReading, firstToken: number | undefined): Streaming | undefined {
  const streaming: Streaming = {}
  if (firstToken !== undefined) streaming.firstTokenMs = firstToken
  const list = parseJson(fields.streamChunks)
  if (Array.isArray(list)) {
    const chunks: [offsetMs: number, text: string][] = []
    for (const item of list) {
      const offset = Array.isArray(item) ? toNumber(item[0]) : undefined
      const text = Array.isArray(item) && typeof item[1] === 'string' ? item[1] : undefined
      if (offset !== undefined && text !== undefined) chunks.push([offset, text])
    }
    if (chunks.length > 0) streaming.chunks = chunks
  }
  return streaming.firstTokenMs === undefined && streaming.chunks === undefined ? undefined : streaming
}
