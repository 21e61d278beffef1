import { isMeaningful } from '../../json/attribute-value.ts'
import { emptyAttributes, type Attributes, type AttributeValue, type Span } from '../../otlp/span.ts'
import { hasFailed } from '../../session/failure.ts'
import { isoTime } from '../../session/session-time.ts'
import type { ChangedField, StepChange } from '../../session/step.ts'
import type { StepDraft, StepOutline } from '../../session/step-draft.ts'
import { spanToStep } from './span-to-step.ts'

/** A copy of a span that has ended. `isRewrite`: its sender was allowed to replace the earlier ones. */
export type SpanCopy = { span: Span; arrivedAtMs: number; isRewrite: boolean }

const MAX_CHANGES = 16
const MAX_FIELDS = 20
const MAX_SHOWN_LENGTH = 200
/** Nobody cuts shorter texts. */
const MIN_CUT_LENGTH = 64

/**
 * The step of a span that arrived several times after it had ended, first copy first. What a later copy adds is kept.
 * What it says differently is not: the first copy stays, and the difference becomes one of the step's `changes`.
 */
export function copiesToStep(copies: readonly SpanCopy[]): { span: Span; draft: StepDraft } {
  let span = copies[0]!.span
  let draft = spanToStep(span)
  const changes: StepChange[] = []
  for (const { span: sent, arrivedAtMs, isRewrite } of copies.slice(1)) {
    const joined = joinSpans(span, sent)
    const next = spanToStep(isRewrite ? sent : joined.span)
    const fields = isRewrite ? joined.fields : [...joined.fields, ...keepVerdict(draft.outline, next.outline)]
    if (isRewrite) fields.push(...removedFields(span, sent))
    span = isRewrite ? sent : joined.span
    draft = next
    if (fields.length === 0 || changes.length >= MAX_CHANGES) continue
    const change: StepChange = { at: isoTime(arrivedAtMs), fields: fields.slice(0, MAX_FIELDS) }
    changes.push(isRewrite ? { ...change, isRewrite } : change)
  }
  if (changes.length > 0) draft.outline.changes = changes
  return { span, draft }
}

type Joined<Value> = { value: Value; fields: ChangedField[] }

function joinSpans(first: Span, later: Span): { span: Span; fields: ChangedField[] } {
  const fields: ChangedField[] = []
  const keep = <Value>(name: string, was: Value, sent: Value, isAbsent: (value: Value) => boolean): Value => {
    if (was === sent || isAbsent(sent)) return was
    if (isAbsent(was)) return sent
    fields.push({ field: name, was: shown(was), sent: shown(sent) })
    return was
  }
  const never = () => false
  const isStatusSame = statusOf(first) === statusOf(later)
  const joinParts = (name: string, was: Attributes, sent: Attributes): Attributes => {
    const joined = joinAttributes(name, was, sent)
    fields.push(...joined.fields)
    return joined.value
  }
  const span: Span = {
    ...first,
    parentSpanId: keep('parent', first.parentSpanId, later.parentSpanId, never),
    name: keep('name', first.name, later.name, (name) => name === ''),
    kind: keep('kind', first.kind, later.kind, (kind) => kind === 0),
    startNs: keep('start', first.startNs, later.startNs, never),
    endNs: keep('end', first.endNs, later.endNs, never),
    statusCode: isStatusSame ? Math.max(first.statusCode, later.statusCode) : first.statusCode,
    statusMessage: isStatusSame
      ? keep('status message', first.statusMessage, later.statusMessage, (message) => message === '')
      : first.statusMessage,
    attributes: joinParts('', first.attributes, later.attributes),
    resource: joinParts('resource ', first.resource, later.resource),
    events: joinEvents(first.events, later.events, fields),
    links: joinLinks(first.links, later.links),
  }
  if (!isStatusSame) fields.unshift({ field: 'status', was: statusOf(first), sent: statusOf(later) })
  return { span, fields }
}

/** Unset and ok say the same: it did not fail. */
function statusOf({ statusCode }: Span): string {
  return statusCode === 2 ? 'error' : 'ok'
}

function joinAttributes(prefix: string, first: Attributes, later: Attributes): Joined<Attributes> {
  const fields: ChangedField[] = []
  let value = first
  for (const key of Object.keys(later)) {
    const [was, sent] = [first[key], later[key]!]
    if (isSame(was, sent) || !isMeaningful(sent) || isCutFrom(sent, was)) continue
    if (isMeaningful(was) && !isCutFrom(was, sent)) {
      fields.push({ field: `${prefix}${key}`, was: shown(was), sent: shown(sent) })
      continue
    }
    if (value === first) value = Object.assign(emptyAttributes(), first)
    value[key] = sent
  }
  return { value, fields }
}

/** An event is the same if its name and time are. */
function joinEvents(first: Span['events'], later: Span['events'], fields: ChangedField[]): Span['events'] {
  if (later.length === 0) return first
  const idOf = ({ name, timeNs }: Span['events'][number]) => `${timeNs} ${name}`
  const events = new Map(first.map((event) => [idOf(event), event]))
  for (const event of later) {
    const known = events.get(idOf(event))
    if (known === undefined) {
      events.set(idOf(event), event)
      continue
    }
    const joined = joinAttributes(`event ${event.name} `, known.attributes, event.attributes)
    fields.push(...joined.fields)
    events.set(idOf(event), { ...known, attributes: joined.value })
  }
  if (events.size === first.length) return [...events.values()]
  return [...events.values()].sort((left, right) => Number(left.timeNs - right.timeNs))
}

function joinLinks(first: Span['links'], later: Span['links']): Span['links'] {
  const known = new Set(first.map(({ traceId, spanId }) => `${traceId} ${spanId}`))
  return [...first, ...later.filter(({ traceId, spanId }) => !known.has(`${traceId} ${spanId}`))]
}

/**
 * What was added may show that a step failed, whichever copy came first. It can't turn a failure into a success, or change
 * the reported end of a session.
 */
function keepVerdict(was: StepOutline, joined: StepOutline): ChangedField[] {
  const fields: ChangedField[] = []
  if (hasFailed(was) && !hasFailed(joined)) {
    fields.push({ field: 'status', was: was.status, sent: joined.status })
    joined.status = was.status
  }
  const [error, sentError] = [was.error, joined.error]
  if (error !== undefined && !(sentError?.message ?? '').includes(error.message)) {
    if (sentError !== undefined)
      fields.push({ field: 'error', was: shown(error.message), sent: shown(sentError.message) })
    joined.error = error
  }
  const [endState, sentEnd] = [was.session?.endState, joined.session?.endState]
  const isEndKept = endState === undefined ? hasFailed(was) && sentEnd === 'success' : endState !== sentEnd
  if (isEndKept) {
    fields.push({ field: 'end state', was: endState ?? 'fail', sent: sentEnd ?? '' })
    const { endState: _, endStateReason: __, ...facts } = joined.session ?? {}
    joined.session = { ...facts, ...(endState !== undefined && { endState }) }
    if (was.session?.endStateReason !== undefined) joined.session.endStateReason = was.session.endStateReason
  }
  return fields
}

function removedFields(was: Span, sent: Span): ChangedField[] {
  return Object.keys(was.attributes)
    .filter((key) => sent.attributes[key] === undefined)
    .map((key) => ({ field: key, was: shown(was.attributes[key]), sent: '' }))
}

/** Encodings differ in how they write a number. */
function isSame(was: AttributeValue | undefined, sent: AttributeValue): boolean {
  if (was === sent) return true
  if (was === undefined || was === null) return false
  return typeof was === 'object' || typeof sent === 'object'
    ? JSON.stringify(was) === JSON.stringify(sent)
    : String(was) === String(sent)
}

const CUT_MARK = /(?:…|\.\.\.)(?: ?\[[^\]]{0,60}\])?$|\[truncated\]$/i

/** True for a text that somebody cut from the other, with or without a mark at its end. */
function isCutFrom(text: AttributeValue | undefined, whole: AttributeValue | undefined): boolean {
  if (typeof text !== 'string' || typeof whole !== 'string' || text.length < MIN_CUT_LENGTH) return false
  if (text.length >= whole.length && !CUT_MARK.test(text)) return false
  const kept = text.replace(CUT_MARK, '')
  return kept.length >= MIN_CUT_LENGTH && kept.length < whole.length && whole.startsWith(kept)
}

function shown(value: unknown): string {
  const text =
    typeof value === 'string'
      ? value
      : typeof value === 'bigint'
        ? timeOf(value)
        : JSON.stringify(value ?? null)
  return text.length > MAX_SHOWN_LENGTH ? `${text.slice(0, MAX_SHOWN_LENGTH - 1).toWellFormed()}…` : text
}

function timeOf(timeNs: bigint): string {
  return isoTime(Number(timeNs / 1_000n) / 1_000)
}
