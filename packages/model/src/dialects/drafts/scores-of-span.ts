import { isRecord, toFlag, toNumber, toText, type JsonObject } from '../../json/attribute-value.ts'
import { parseJson } from '../../json/json-text.ts'
import type { Attributes, LogRecord, Span } from '../../otlp/span.ts'
import { stableId } from '../../otlp/stable-id.ts'
import {
  MAX_SCORE_COMMENT,
  MAX_SCORE_NAME,
  MAX_SCORE_WORD,
  scoreSources,
  type ScoreDraft,
  type ScoreSource,
  type ScoreValue,
} from '../../session/score.ts'
import type { SpanReading } from '../reading/dialect.ts'
import { unflattenList, type FlatEntry } from '../reading/flattened-keys.ts'

/** OpenTelemetry's event for a score: on a span, as a log record, or as a span of its own where nothing else can be sent. */
export const EVALUATION_RESULT = 'gen_ai.evaluation.result'

const MAX_SCORES = 50

/** The scores that a span brings, about itself or about the step that it names. */
export function scoresOfSpan(reading: SpanReading): ScoreDraft[] | undefined {
  const { span, groups } = reading
  const { evaluation, annotations, sessionAnnotations, namedScores } = groups
  const scores: ScoreDraft[] = []
  if (evaluation !== undefined) add(scores, ownScore(span))
  for (const event of span.events)
    if (event.name === EVALUATION_RESULT) add(scores, eventScore(span, event.attributes, event.timeNs))
  if (namedScores !== undefined) for (const entry of namedScores) add(scores, namedScore(span, entry))
  for (const annotation of unflattenList(annotations)) add(scores, annotationScore(span, annotation))
  for (const annotation of unflattenList(sessionAnnotations)) {
    const score = annotationScore(span, annotation)
    delete score?.stepId
    add(scores, score)
  }
  return scores.length === 0 ? undefined : scores.slice(0, MAX_SCORES)
}

/** The score in a log record. */
export function scoreOfLog(log: LogRecord, payload: JsonObject): ScoreDraft | undefined {
  const at = { traceId: log.traceId, spanId: log.spanId ?? '' }
  const score = eventScore(at, payload as Attributes, log.timeNs)
  if (score !== undefined && log.spanId === null) delete score.stepId
  return score
}

function add(scores: ScoreDraft[], score: ScoreDraft | undefined): void {
  if (score !== undefined) scores.push(score)
}

/** A span that is the score of its parent. Our SDKs also say who gave it, and whether it is about one step. */
function ownScore(span: Span): ScoreDraft | undefined {
  const { attributes, spanId, parentSpanId, startNs } = span
  const isOurs = attributes['playhead.score.source'] !== undefined
  const stepId = isOurs ? toText(attributes['playhead.score.step']) : (parentSpanId ?? undefined)
  return toDraft(evaluationFields(attributes), {
    id: toText(attributes['playhead.score.id']) ?? spanId,
    atMs: Number(startNs) / 1e6,
    ...(stepId !== undefined && { stepId }),
  })
}

function eventScore(
  { spanId }: Pick<Span, 'spanId'>,
  attributes: Attributes,
  timeNs: bigint,
): ScoreDraft | undefined {
  const fields = evaluationFields(attributes)
  const responseId = toText(attributes['gen_ai.response.id'])
  return toDraft(fields, {
    id: stableId(`${spanId} ${toText(fields.name) ?? ''} ${timeNs}`, 16),
    atMs: Number(timeNs) / 1e6,
    ...(spanId === '' ? responseId !== undefined && { responseId } : { stepId: spanId }),
  })
}

/** `langfuse.score.helpful`: a value, or JSON with `value` and `comment`. */
function namedScore(span: Span, { path, value }: FlatEntry): ScoreDraft | undefined {
  const name = path.join('.')
  const parsed = parseJson(value)
  const fields = isRecord(parsed)
    ? { name, value: parsed.value, comment: parsed.comment }
    : { name, value: parsed }
  return toDraft(fields, placeOn(span, name))
}

/** `annotations.0.annotation.score` of OpenInference, and the same under `evaluations`. */
function annotationScore(span: Span, item: unknown): ScoreDraft | undefined {
  if (!isRecord(item)) return undefined
  const annotation = isRecord(item.annotation) ? item.annotation : item.evaluation
  if (!isRecord(annotation)) return undefined
  const { name, score, label, explanation, identifier, annotator_kind: kind } = annotation
  const fields = { name, value: score, label, comment: explanation, source: annotators[toText(kind) ?? ''] }
  return toDraft(fields, placeOn(span, `${toText(name) ?? ''} ${toText(identifier) ?? ''}`))
}

const annotators: Readonly<Record<string, ScoreSource>> = { HUMAN: 'person', LLM: 'model', CODE: 'code' }

type Place = Pick<ScoreDraft, 'id' | 'atMs' | 'stepId' | 'responseId'>

function placeOn({ spanId, startNs, endNs }: Span, key: string): Place {
  return { id: stableId(`${spanId} ${key}`, 16), atMs: Number(endNs ?? startNs) / 1e6, stepId: spanId }
}

type Fields = { name: unknown; value: unknown; label?: unknown; comment?: unknown; source?: unknown }

function evaluationFields(attributes: Attributes): Fields {
  return {
    name: attributes['gen_ai.evaluation.name'],
    value: attributes['gen_ai.evaluation.score.value'],
    label: attributes['gen_ai.evaluation.score.label'],
    comment: attributes['gen_ai.evaluation.explanation'],
    source: attributes['playhead.score.source'],
  }
}

/** Undefined without a name or a value: a judge that failed gave no score. */
function toDraft(fields: Fields, place: Place): ScoreDraft | undefined {
  const name = toText(fields.name)?.trim().slice(0, MAX_SCORE_NAME)
  const label = toText(fields.label)
  const value = valueOf(fields.value, label)
  if (name === undefined || name === '' || value === undefined) return undefined
  const given = toText(fields.comment)
  // A label beside a number explains it: "4" is "relevant".
  const comment = given ?? (typeof value === 'number' ? label : undefined)
  return {
    ...place,
    name,
    value,
    source: scoreSources.find((source) => source === fields.source) ?? 'code',
    ...(comment !== undefined && { comment: comment.slice(0, MAX_SCORE_COMMENT) }),
  }
}

function valueOf(value: unknown, label: string | undefined): ScoreValue | undefined {
  if (typeof value === 'boolean') return value
  // Our SDKs send yes as 1 with the label "true".
  const flag = label === 'true' || label === 'false' ? toFlag(label) : undefined
  const number = toNumber(value)
  if (flag !== undefined && (number === undefined || number === Number(flag))) return flag
  return number ?? (toText(value) ?? label)?.slice(0, MAX_SCORE_WORD)
}
