import type { Attributes, Scope, Span, SpanEvent, SpanLink, StepDraft, StepOutline } from '@playhead/model'
import type { Columns, RowOf } from '../log/native-block.ts'

/** The columns of `steps` that we write; the log adds `segment`. */
export const stepColumns = {
  project: 'String',
  session_id: 'String',
  step_id: 'String',
  parent_id: 'String',
  version: 'UInt64',
  received_at: "DateTime64(3, 'UTC')",
  started_at: "DateTime64(9, 'UTC')",
  ended_at: "Nullable(DateTime64(9, 'UTC'))",
  kind: 'String',
  name: 'String',
  dialect: 'String',
  status: 'String',
  error_type: 'String',
  error_message: 'String',
  model: 'String',
  provider: 'String',
  tool: 'String',
  agent: 'String',
  effect: 'String',
  response_id: 'String',
  usage: 'Map(String, UInt64)',
  cost: 'Nullable(Float64)',
  cost_source: 'String',
  first_token_ms: 'Nullable(Float64)',
  input_preview: 'String',
  output_preview: 'String',
  outline: 'String',
  normalizer_version: 'UInt16',
  span_name: 'String',
  span_kind: 'UInt8',
  status_code: 'UInt8',
  status_message: 'String',
  scope_name: 'String',
  scope_version: 'String',
  attributes: 'String',
  events: 'String',
  links: 'String',
  resource: 'String',
} as const satisfies Columns

/** The text of a step that full-text search looks at. Index and queries must use the identical expression. */
export const SEARCH_TEXT =
  "lower(replaceAll(replaceAll(concat(name, ' ', attributes, ' ', events), '\\\\n', ' '), '\\\\t', ' '))"

export type StepRow = RowOf<typeof stepColumns>

/** What sets one reading of a span apart from another: a later one with the same span wins over an earlier one. */
export type Reading = { normalizerVersion: number; priceRevision: number }

/** One span and what its dialects made of it, as a row. */
export function toStepRow(
  project: string,
  span: Span,
  { outline }: StepDraft,
  context: { receivedAtMs: number; reading: Reading; resource: string },
): StepRow {
  const attributes = JSON.stringify(span.attributes)
  const events = span.events.length === 0 ? '' : JSON.stringify(span.events, bigintAsText)
  return {
    project,
    session_id: span.traceId,
    step_id: span.spanId,
    parent_id: span.parentSpanId ?? '',
    version: stepVersion(span.endNs !== null, attributes.length + events.length, context.reading),
    received_at: BigInt(context.receivedAtMs),
    started_at: span.startNs,
    ended_at: span.endNs,
    ...outlineColumns(outline),
    normalizer_version: context.reading.normalizerVersion,
    span_name: span.name,
    span_kind: span.kind,
    status_code: span.statusCode,
    status_message: span.statusMessage,
    scope_name: span.scope.name,
    scope_version: span.scope.version,
    attributes,
    events,
    links: span.links.length === 0 ? '' : JSON.stringify(span.links),
    resource: context.resource,
  }
}

function outlineColumns(outline: StepOutline) {
  return {
    kind: outline.kind,
    name: outline.name,
    dialect: outline.dialect,
    status: outline.status,
    error_type: outline.error?.type ?? '',
    error_message: outline.error?.message ?? '',
    model: outline.model ?? '',
    provider: outline.provider ?? '',
    tool: outline.toolName ?? '',
    agent: outline.agent ?? '',
    effect: outline.effect ?? '',
    response_id: outline.responseId ?? '',
    usage: outline.usage ?? {},
    cost: outline.cost ?? null,
    cost_source: outline.costSource ?? '',
    first_token_ms: outline.firstTokenMs ?? null,
    input_preview: outline.inputPreview ?? '',
    output_preview: outline.outputPreview ?? '',
    outline: JSON.stringify(rest(outline)),
  }
}

/** The parts of an outline that have no column of their own. */
type OutlineRest = Pick<
  StepOutline,
  | 'isParentRemote'
  | 'requestedModel'
  | 'isUsageRollup'
  | 'isUsageEstimated'
  | 'reportedCost'
  | 'finishReasons'
  | 'attempt'
  | 'toolCallId'
  | 'handoff'
  | 'guardrail'
  | 'isTruncated'
  | 'treeQuestion'
  | 'session'
> & { error?: Pick<NonNullable<StepOutline['error']>, 'cause' | 'isHandled' | 'isPropagated'> | undefined }

function rest(outline: StepOutline): Partial<OutlineRest> {
  const { isParentRemote, requestedModel, isUsageRollup, isUsageEstimated, reportedCost, finishReasons } =
    outline
  const { attempt, toolCallId, handoff, guardrail, isTruncated, treeQuestion, session, error } = outline
  const kept = {
    requestedModel,
    isUsageRollup,
    isUsageEstimated,
    reportedCost,
    finishReasons,
    attempt,
    toolCallId,
    handoff,
    guardrail,
    isTruncated,
    treeQuestion,
    session,
    error: error && { cause: error.cause, isHandled: error.isHandled, isPropagated: error.isPropagated },
  }
  return (isParentRemote ? { ...kept, isParentRemote } : kept) as Partial<OutlineRest>
}

/**
 * Which of several rows of one step counts: an ended one before an open one, then the one that says more, then the one
 * that was read last. The same whatever the order of arrival.
 */
function stepVersion(isEnded: boolean, size: number, reading: Reading): number {
  const richness = Math.min(size, 2 ** 24 - 1)
  const derivation =
    Math.min(reading.normalizerVersion, 2 ** 10 - 1) * 2 ** 12 + Math.min(reading.priceRevision, 2 ** 12 - 1)
  return (isEnded ? 2 ** 47 : 0) + richness * 2 ** 22 + derivation
}

/** How large the payload of a row is, which its version tells. */
export function payloadSize(version: number): number {
  return Math.floor(version / 2 ** 22) % 2 ** 24
}

/** The same in SQL. */
export const PAYLOAD_SIZE = 'bitAnd(bitShiftRight(version, 22), 16777215)'

/** What the thin queries select, in the form `outlineFromRow` reads. */
export const outlineSelect = `step_id, parent_id, toUnixTimestamp64Micro(started_at) AS started_us, toUnixTimestamp64Micro(ended_at) AS ended_us,
  kind, name, dialect, status, error_type, error_message, model, provider, tool, agent, effect, response_id, usage, cost,
  cost_source, first_token_ms, input_preview, output_preview, scope_name, outline`

/** A row of `outlineSelect`, as JSONEachRow gives it. */
export type OutlineRow = {
  step_id: string
  parent_id: string
  started_us: number
  ended_us: number | null
  kind: StepOutline['kind']
  name: string
  dialect: string
  status: StepOutline['status']
  error_type: string
  error_message: string
  model: string
  provider: string
  tool: string
  agent: string
  effect: '' | 'read' | 'write'
  response_id: string
  usage: Record<string, number>
  cost: number | null
  cost_source: '' | 'reported' | 'computed'
  first_token_ms: number | null
  input_preview: string
  output_preview: string
  scope_name: string
  outline: string
}

export function outlineFromRow(sessionId: string, row: OutlineRow): StepOutline {
  const { error, ...others } = JSON.parse(row.outline) as Partial<OutlineRest>
  const outline: StepOutline = {
    sessionId,
    id: row.step_id,
    parentId: row.parent_id === '' ? null : row.parent_id,
    isParentRemote: false,
    startedAtMs: row.started_us / 1000,
    endedAtMs: row.ended_us === null ? null : row.ended_us / 1000,
    kind: row.kind,
    name: row.name,
    dialect: row.dialect,
    status: row.status,
    ...others,
  }
  if (row.error_type !== '' || row.error_message !== '') {
    outline.error = { ...error, type: row.error_type, message: row.error_message }
  }
  if (row.scope_name !== '') outline.reporter = row.scope_name
  if (row.model !== '') outline.model = row.model
  if (row.provider !== '') outline.provider = row.provider
  if (row.tool !== '') outline.toolName = row.tool
  if (row.agent !== '') outline.agent = row.agent
  if (row.effect !== '') outline.effect = row.effect
  if (row.response_id !== '') outline.responseId = row.response_id
  if (Object.keys(row.usage).length > 0) outline.usage = row.usage
  if (row.cost !== null) outline.cost = row.cost
  if (row.cost_source !== '') outline.costSource = row.cost_source
  if (row.first_token_ms !== null) outline.firstTokenMs = row.first_token_ms
  if (row.input_preview !== '') outline.inputPreview = row.input_preview
  if (row.output_preview !== '') outline.outputPreview = row.output_preview
  return outline
}

/** What is needed to have the span back as it arrived. */
export const spanSelect = `session_id, step_id, parent_id, toString(toUnixTimestamp64Nano(started_at)) AS started_ns,
  toString(toUnixTimestamp64Nano(ended_at)) AS ended_ns, span_name, span_kind, status_code, status_message, scope_name, scope_version,
  attributes, events, links, resource, outline`

export type SpanRow = {
  session_id: string
  step_id: string
  parent_id: string
  started_ns: string
  ended_ns: string | null
  span_name: string
  span_kind: number
  status_code: number
  status_message: string
  scope_name: string
  scope_version: string
  attributes: string
  events: string
  links: string
  resource: string
  outline: string
}

export function spanFromRow(row: SpanRow): Span {
  const scope: Scope = { name: row.scope_name, version: row.scope_version }
  return {
    traceId: row.session_id,
    spanId: row.step_id,
    parentSpanId: row.parent_id === '' ? null : row.parent_id,
    isParentRemote: (JSON.parse(row.outline) as Partial<OutlineRest>).isParentRemote === true,
    name: row.span_name,
    kind: row.span_kind,
    startNs: BigInt(row.started_ns),
    endNs: row.ended_ns === null ? null : BigInt(row.ended_ns),
    statusCode: row.status_code,
    statusMessage: row.status_message,
    attributes: JSON.parse(row.attributes) as Attributes,
    events: row.events === '' ? [] : eventsFromText(row.events),
    links: row.links === '' ? [] : (JSON.parse(row.links) as SpanLink[]),
    resource: JSON.parse(row.resource) as Attributes,
    scope,
  }
}

function eventsFromText(text: string): SpanEvent[] {
  const events = JSON.parse(text) as (Omit<SpanEvent, 'timeNs'> & { timeNs: string })[]
  return events.map((event) => ({ ...event, timeNs: BigInt(event.timeNs) }))
}

function bigintAsText(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value
}
