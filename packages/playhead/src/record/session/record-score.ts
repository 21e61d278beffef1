import { ROOT_CONTEXT, trace, TraceFlags, type Attributes } from '@opentelemetry/api'
import {
  EVALUATION_RESULT,
  MAX_SCORE_NAME,
  scoreNumber,
  scoreSources,
  type ScoreSource,
  type ScoreValue,
} from '@playhead/model'
import { parentIdOf } from '../opentelemetry/recorded-span.ts'
import { readField, toText } from '../value/host-value.ts'
import type { Recorder } from './recorder.ts'
import type { SessionRecord } from './session-record.ts'

export type ScoreOptions = {
  /** Why, or what was wrong. */
  comment?: string | undefined
  /** Who gave it: "code" (the default), "person", "model", "user". */
  source?: ScoreSource | undefined
  /** The step it is about, or its id; without it, the session. */
  step?: string | { id: string } | undefined
  /** Recorded twice with the same id, it counts once. */
  id?: string | undefined
}

/**
 * Records a score of a session that runs or has ended. It travels as a span of the session's trace, so that it is
 * delivered, spooled and written to files like any step; nobody shows it as one.
 */
export function recordScore(
  recorder: Recorder,
  record: SessionRecord,
  { name, value, options }: { name: unknown; value: unknown; options: ScoreOptions },
): void {
  const attributes = toAttributes(recorder, name, value, options)
  if (attributes === undefined)
    return recorder.reporter.once(
      'score',
      'score() takes a name and a number, true or false, or a word: session.score("helpful", 1)',
    )
  const root = [...record.open.values(), ...record.ended].find((span) => parentIdOf(span) === undefined)
  const parent = root?.spanContext() ?? [...record.open.values(), ...record.ended][0]?.spanContext()
  if (parent === undefined) return
  const context = trace.setSpanContext(ROOT_CONTEXT, { ...parent, traceFlags: TraceFlags.SAMPLED })
  recorder.spans.nextRecord = record
  try {
    recorder.tracer().startSpan(EVALUATION_RESULT, { attributes }, context).end()
  } finally {
    recorder.spans.nextRecord = undefined
  }
}

function toAttributes(
  recorder: Recorder,
  givenName: unknown,
  value: unknown,
  options: ScoreOptions,
): Attributes | undefined {
  const name = toText(givenName)?.trim().slice(0, MAX_SCORE_NAME)
  if (name === undefined || name === '' || !isScoreValue(value)) return undefined
  const number = scoreNumber(value)
  const step = readField(options, 'step')
  const stepId = toText(typeof step === 'object' ? readField(step, 'id') : step)
  const comment = toText(readField(options, 'comment'))
  const id = toText(readField(options, 'id'))
  const source = readField(options, 'source')
  const isTextKept = recorder.serializeOptions.isContentKept
  return {
    'gen_ai.evaluation.name': name,
    ...(number !== null && { 'gen_ai.evaluation.score.value': number }),
    ...(typeof value !== 'number' && { 'gen_ai.evaluation.score.label': String(value) }),
    ...(comment !== undefined && isTextKept && { 'gen_ai.evaluation.explanation': comment }),
    'playhead.score.source': scoreSources.find((known) => known === source) ?? 'code',
    ...(stepId !== undefined && { 'playhead.score.step': stepId }),
    ...(id !== undefined && { 'playhead.score.id': id }),
  }
}

function isScoreValue(value: unknown): value is ScoreValue {
  if (typeof value === 'number') return Number.isFinite(value)
  return typeof value === 'boolean' || (typeof value === 'string' && value.trim() !== '')
}
