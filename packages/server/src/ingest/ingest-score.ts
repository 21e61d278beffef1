import {
  emptyAttributes,
  EVALUATION_RESULT,
  scoreNumber,
  stableId,
  type Attributes,
  type Score,
  type Span,
} from '@playhead/model'
import { ingestSpans, type IngestPipeline } from './ingest-batch.ts'

/** The score of a client that is no OpenTelemetry SDK. */
export type NewScore = Pick<Score, 'id' | 'name' | 'value' | 'source'> & {
  comment?: string | undefined
  stepId?: string | undefined
}

/**
 * Stores a score as the span that our SDKs send for one. So it is on disk before it is acknowledged, whether or not the
 * store or the session is there, and belongs to the session like any of its spans.
 */
export async function ingestScore(
  pipeline: IngestPipeline,
  project: string,
  sessionId: string,
  score: NewScore,
): Promise<Score> {
  const atMs = Date.now()
  const span = toSpan(sessionId, score, atMs)
  await ingestSpans(pipeline, project, () => ({ items: [span], rejected: [] }))
  const { id, name, value, source, comment, stepId } = score
  return {
    id,
    name,
    value,
    source,
    ...(comment !== undefined && { comment }),
    ...(stepId !== undefined && { stepId }),
    at: new Date(atMs).toISOString(),
  }
}

let lastNs = 0n

/** Two scores within a millisecond keep their order. */
function nanosecondsOf(atMs: number): bigint {
  const timeNs = BigInt(atMs) * 1_000_000n
  lastNs = timeNs > lastNs ? timeNs : lastNs + 1_000n
  return lastNs
}

function toSpan(sessionId: string, score: NewScore, atMs: number): Span {
  const timeNs = nanosecondsOf(atMs)
  return {
    traceId: sessionId,
    spanId: stableId(`score ${sessionId} ${score.id}`, 16),
    parentSpanId: score.stepId ?? null,
    isParentRemote: true,
    name: EVALUATION_RESULT,
    kind: 1,
    startNs: timeNs,
    endNs: timeNs,
    statusCode: 0,
    statusMessage: '',
    attributes: attributesOf(score),
    events: [],
    links: [],
    resource: emptyAttributes(),
    scope: { name: 'playhead', version: '' },
  }
}

function attributesOf({ id, name, value, source, comment, stepId }: NewScore): Attributes {
  const number = scoreNumber(value)
  return Object.assign(emptyAttributes(), {
    'gen_ai.evaluation.name': name,
    ...(number !== null && { 'gen_ai.evaluation.score.value': number }),
    ...(typeof value !== 'number' && { 'gen_ai.evaluation.score.label': String(value) }),
    ...(comment !== undefined && comment !== '' && { 'gen_ai.evaluation.explanation': comment }),
    'playhead.score.id': id,
    'playhead.score.source': source,
    ...(stepId !== undefined && { 'playhead.score.step': stepId }),
  })
}
