import type { DialectFailure, StepOutline } from '@playhead/model'
import type { ProjectPricer } from '../access/registry.ts'
import type { ReceivedBody } from '../door/received-body.ts'
import type { LogBlock } from '../log/native-block.ts'
import type { FreshPart } from '../sessions/fresh-rows.ts'
import type { Rejection } from './rejection.ts'

export type ContentFormat = 'json' | 'protobuf'

/** OTLP traces as they came in. */
export type TraceRequest = { project: string; body: ReceivedBody; format: ContentFormat; isRewrite: boolean }

/** What is needed to read a request elsewhere. */
export type ThreadContext = {
  pricerOf: (project: string) => ProjectPricer
  /** The first of as many numbers of arrival. */
  reserveArrivals: (count: number) => number
  live: { isKept(): boolean }
}

/** Spans that were read and encoded, ready for the log. */
export type EncodedSpans = {
  block: LogBlock
  parts: FreshPart[]
  traceIds: readonly string[]
  /** Of steps that may begin a session. */
  outlines: readonly StepOutline[]
  rejected: Rejection[]
  failures: readonly DialectFailure[]
  /** Holds the block and the parts. */
  memory: ArrayBuffer
}

/** The body of a request that was not read: the one that was given may no longer be there. */
export type Encoding =
  | { encoded: EncodedSpans; unread?: undefined }
  | { encoded?: undefined; unread: ReceivedBody }

/** Reads spans beside the main thread. */
export type SpanThread = {
  /** Reads a request, unless the caller should. */
  encode(request: TraceRequest, context: ThreadContext): Promise<Encoding>
  /** Takes the memory back, once nothing reads it. */
  reuse(encoded: EncodedSpans): void
}
