import {
  stepKinds,
  type Attributes,
  type Span,
  type SpanEvent,
  type SpanLink,
  type StepOutline,
  type StepStatus,
  type ToolAnswer,
  type ToolRequest,
} from '@playhead/model'
import type { Columns } from '../log/native-block.ts'
import { parseList, parseObject, storedFields, type FieldMap, type JsonRow } from './stored-fields.ts'

/** One span and the step that was derived from it, as a row of `steps`. */
export type StepRow = {
  project: string
  span: Span
  outline: StepOutline
  version: number
  /** See `arrivalOf`. */
  arrival: number
  receivedAtMs: number
  normalizerVersion: number
  attributes: string
  events: string
  resource: string
}

/** By which rules and prices a step was derived. For the same span, the later derivation wins. */
export type Derivation = { normalizerVersion: number; priceRevision: number }

export function toStepRow(
  project: string,
  span: Span,
  outline: StepOutline,
  context: { receivedAtMs: number; arrival: number; derivation: Derivation; resource: string },
): StepRow {
  const attributes = JSON.stringify(span.attributes)
  const events = span.events.length === 0 ? '' : JSON.stringify(span.events, bigintAsText)
  return {
    project,
    span,
    outline,
    version: stepVersion(span.endNs !== null, attributes.length + events.length, context.derivation),
    arrival: context.arrival,
    receivedAtMs: context.receivedAtMs,
    normalizerVersion: context.derivation.normalizerVersion,
    attributes,
    events,
    resource: context.resource,
  }
}

/**
 * How each field of an outline is stored: in a column of its own, in the JSON of the column `outline`, or with the span.
 * A new field is one line here, and a migration if it gets a column.
 */
const outlineFields: FieldMap<StepOutline, 'span' | 'json'> = {
  sessionId: 'span',
  id: 'span',
  parentId: 'span',
  startedAtMs: 'span',
  endedAtMs: 'span',
  reporter: 'span',
  isParentRemote: 'span',
  kind: { column: 'kind', type: 'String' },
  name: { column: 'name', type: 'String' },
  dialect: { column: 'dialect', type: 'String' },
  status: { column: 'status', type: 'String' },
  error: {
    columns: {
      error_type: { type: 'String', value: ({ error }) => error?.type ?? '' },
      error_message: { type: 'String', value: ({ error }) => error?.message ?? '' },
    },
    read(row, outline) {
      const [type, message] = [row.error_type as string, row.error_message as string]
      if (type !== '' || message !== '') outline.error = { ...outline.error, type, message }
      else delete outline.error
    },
  },
  model: { column: 'model', type: 'String', absent: '' },
  provider: { column: 'provider', type: 'String', absent: '' },
  toolName: { column: 'tool', type: 'String', absent: '' },
  agent: { column: 'agent', type: 'String', absent: '' },
  effect: { column: 'effect', type: 'String', absent: '' },
  responseId: { column: 'response_id', type: 'String', absent: '' },
  usage: { column: 'usage', type: 'Map(String, UInt64)', absent: {} },
  cost: { column: 'cost', type: 'Nullable(Float64)', absent: null },
  costSource: { column: 'cost_source', type: 'String', absent: '' },
  firstTokenMs: { column: 'first_token_ms', type: 'Nullable(Float64)', absent: null },
  inputPreview: { column: 'input_preview', type: 'String', absent: '' },
  outputPreview: { column: 'output_preview', type: 'String', absent: '' },
  requestedModel: 'json',
  isUsageRollup: 'json',
  isUsageEstimated: 'json',
  reportedCost: 'json',
  finishReasons: 'json',
  attempt: 'json',
  toolCallId: 'json',
  questionPreview: 'json',
  toolRequests: 'json',
  toolAnswers: 'json',
  handoff: 'json',
  guardrail: 'json',
  isStreamAborted: 'json',
  isTruncated: 'json',
  isInferred: 'json',
  treeQuestion: 'json',
  cause: 'json',
  session: 'json',
  changes: 'span',
}

const outlineColumns = storedFields(outlineFields, ({ outline }: StepRow) => outline)
const jsonFields = (Object.keys(outlineFields) as (keyof StepOutline)[]).filter(
  (field) => outlineFields[field] === 'json',
)

/** The fields of an outline that have no column. Most are missing from most steps. */
function jsonPart(outline: StepOutline): Partial<StepOutline> {
  const part: Record<string, unknown> = {}
  for (const field of jsonFields) {
    const value = outline[field]
    if (value !== undefined) part[field] = value
  }
  Object.assign(part, shortToolUse(outline))
  if (outline.isParentRemote) part.isParentRemote = true
  if (outline.error !== undefined) {
    const { cause, isHandled, isPropagated } = outline.error
    part.error = { cause, isHandled, isPropagated }
  }
  return part
}

type Short<Item, Preview extends keyof Item> = Omit<Item, Preview> & { [Field in Preview]?: string | null }

/** A preview that the step itself has is stored as null: the last result is its input, a single tool call its output. */
function shortToolUse({ toolRequests, toolAnswers, inputPreview, outputPreview }: StepOutline): {
  toolRequests?: Short<ToolRequest, 'inputPreview'>[]
  toolAnswers?: Short<ToolAnswer, 'outputPreview'>[]
} {
  return {
    ...(toolRequests !== undefined && {
      toolRequests: toolRequests.map((request) =>
        request.inputPreview !== undefined && outputPreview === describeCall(request)
          ? { ...request, inputPreview: null }
          : request,
      ),
    }),
    ...(toolAnswers !== undefined && {
      toolAnswers: toolAnswers.map((answer) =>
        answer.outputPreview !== undefined && answer.outputPreview === inputPreview
          ? { ...answer, outputPreview: null }
          : answer,
      ),
    }),
  }
}

function describeCall({ name, inputPreview = '' }: ToolRequest): string {
  return `→ ${name}(${inputPreview})`
}

/** Reverses `shortToolUse`. */
function expandToolUse({
  toolRequests = [],
  toolAnswers = [],
  inputPreview,
  outputPreview = '',
}: StepOutline): void {
  for (const request of toolRequests as Short<ToolRequest, 'inputPreview'>[])
    if (request.inputPreview === null)
      request.inputPreview = outputPreview.slice(describeCall({ name: request.name }).length - 1, -1)
  for (const answer of toolAnswers as Short<ToolAnswer, 'outputPreview'>[])
    if (answer.outputPreview === null && inputPreview !== undefined) answer.outputPreview = inputPreview
}

type Shape = 'string' | 'number' | 'boolean' | 'object' | 'list'

const jsonShapes: Readonly<Record<string, Shape>> = {
  requestedModel: 'string',
  isUsageRollup: 'boolean',
  isUsageEstimated: 'boolean',
  reportedCost: 'number',
  finishReasons: 'list',
  attempt: 'number',
  toolCallId: 'string',
  questionPreview: 'string',
  toolRequests: 'list',
  toolAnswers: 'list',
  handoff: 'object',
  guardrail: 'object',
  isStreamAborted: 'boolean',
  isTruncated: 'boolean',
  isInferred: 'boolean',
  treeQuestion: 'string',
  session: 'object',
  error: 'object',
  isParentRemote: 'boolean',
  // Of `session`:
  tags: 'list',
  test: 'object',
  vcs: 'object',
  metadata: 'object',
  name: 'string',
}

/** Throws if a field has another type than `jsonPart` wrote: whoever reads the outline relies on it. */
function checkJsonPart(part: Partial<StepOutline>): Partial<StepOutline> {
  checkShapes(part)
  if (part.session !== undefined) checkShapes(part.session)
  return part
}

function checkShapes(fields: object): void {
  for (const [field, value] of Object.entries(fields)) {
    const shape = jsonShapes[field]
    if (shape === undefined || value === undefined) continue
    const found = Array.isArray(value) ? 'list' : value === null ? 'null' : typeof value
    if (found !== shape) throw new TypeError(`"${field}" must be a ${shape}, not a ${found}`)
  }
}

const kinds: ReadonlySet<string> = new Set(stepKinds)
const statuses: ReadonlySet<string> = new Set<StepStatus>(['ok', 'error', 'soft-error', 'running'])

/** The columns that a span is read from, besides its times. Whether its parent is remote stands in `outline`. */
const spanColumns = {
  session_id: { type: 'String', value: ({ span }) => span.traceId },
  step_id: { type: 'String', value: ({ span }) => span.spanId },
  parent_id: { type: 'String', value: ({ span }) => span.parentSpanId ?? '' },
  span_name: { type: 'String', value: ({ span }) => span.name },
  span_kind: { type: 'UInt8', value: ({ span }) => span.kind },
  status_code: { type: 'UInt8', value: ({ span }) => span.statusCode },
  status_message: { type: 'String', value: ({ span }) => span.statusMessage },
  scope_name: { type: 'String', value: ({ span }) => span.scope.name },
  scope_version: { type: 'String', value: ({ span }) => span.scope.version },
  attributes: { type: 'String', value: (row) => row.attributes },
  events: { type: 'String', value: (row) => row.events },
  links: {
    type: 'String',
    value: ({ span }) => (span.links.length === 0 ? '' : JSON.stringify(span.links)),
  },
  resource: { type: 'String', value: (row) => row.resource },
  outline: { type: 'String', value: ({ outline }) => JSON.stringify(jsonPart(outline)) },
} as const satisfies Columns<StepRow>

/** The columns of `steps`, except `segment`, which the log adds. */
export const stepColumns: Columns<StepRow> = {
  project: { type: 'String', value: (row) => row.project },
  version: { type: 'UInt64', value: (row) => row.version },
  arrival: { type: 'Int64', value: (row) => BigInt(row.arrival) },
  received_at: { type: "DateTime64(3, 'UTC')", value: (row) => BigInt(row.receivedAtMs) },
  normalizer_version: { type: 'UInt16', value: (row) => row.normalizerVersion },
  started_at: { type: "DateTime64(9, 'UTC')", value: ({ span }) => span.startNs },
  ended_at: { type: "Nullable(DateTime64(9, 'UTC'))", value: ({ span }) => span.endNs },
  ...spanColumns,
  ...outlineColumns.columns,
}

/** What `outlineFromRow` needs. */
export const outlineSelect = [
  'session_id, step_id, parent_id, scope_name, outline',
  'toUnixTimestamp64Micro(started_at) AS started_us, toUnixTimestamp64Micro(ended_at) AS ended_us',
  ...Object.keys(outlineColumns.columns),
].join(', ')

export type OutlineRow = JsonRow &
  Pick<SpanRow, 'session_id' | 'step_id' | 'parent_id' | 'scope_name' | 'outline'> & {
    started_us: number
    ended_us: number | null
  }

export function outlineFromRow(row: OutlineRow): StepOutline {
  const outline = {
    sessionId: row.session_id,
    id: row.step_id,
    parentId: row.parent_id === '' ? null : row.parent_id,
    isParentRemote: false,
    startedAtMs: row.started_us / 1000,
    endedAtMs: row.ended_us === null ? null : row.ended_us / 1000,
    ...checkJsonPart(parseObject(row.outline)),
  } as StepOutline
  if (!kinds.has(row.kind as string)) throw new TypeError(`it has the unknown kind "${String(row.kind)}"`)
  if (!statuses.has(row.status as string))
    throw new TypeError(`it has the unknown status "${String(row.status)}"`)
  if (row.scope_name !== '') outline.reporter = row.scope_name
  outlineColumns.read(row, outline)
  if (outline.toolRequests !== undefined || outline.toolAnswers !== undefined) expandToolUse(outline)
  return outline
}

/** What `spanFromRow` needs. */
export const spanSelect = [
  ...Object.keys(spanColumns),
  'toString(toUnixTimestamp64Nano(started_at)) AS started_ns, toString(toUnixTimestamp64Nano(ended_at)) AS ended_ns',
].join(', ')

export type SpanRow = {
  [Name in keyof typeof spanColumns]: (typeof spanColumns)[Name]['type'] extends 'String' ? string : number
} & { started_ns: string; ended_ns: string | null }

export function spanFromRow(row: SpanRow): Span {
  return {
    traceId: row.session_id,
    spanId: row.step_id,
    parentSpanId: row.parent_id === '' ? null : row.parent_id,
    isParentRemote: parseObject(row.outline).isParentRemote === true,
    name: row.span_name,
    kind: row.span_kind,
    startNs: BigInt(row.started_ns),
    endNs: row.ended_ns === null ? null : BigInt(row.ended_ns),
    statusCode: row.status_code,
    statusMessage: row.status_message,
    attributes: parseObject(row.attributes) as Attributes,
    events: row.events === '' ? [] : eventsFromText(row.events),
    links: row.links === '' ? [] : (parseList(row.links) as SpanLink[]),
    resource: parseObject(row.resource) as Attributes,
    scope: { name: row.scope_name, version: row.scope_version },
  }
}

function eventsFromText(text: string): SpanEvent[] {
  const events = parseList(text) as (Omit<SpanEvent, 'timeNs'> & { timeNs: string })[]
  return events.map((event) => ({ ...event, timeNs: BigInt(event.timeNs) }))
}

function bigintAsText(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value
}

/**
 * The order in which the finished copies of a span arrived; 0 for an open span and for one without times, whose copies
 * replace each other. Negative for a copy that may replace earlier ones, so that the latest of those comes first.
 */
export function arrivalOf(span: Span, sequence: number, isRewrite: boolean): number {
  if (span.endNs === null || span.endNs === 0n) return 0
  return isRewrite ? -sequence : sequence
}

/** Whether a row is of a span that has ended, in SQL. */
export const IS_FINISHED = 'ifNull(toUnixTimestamp64Nano(ended_at), 0) != 0'

/**
 * Sorts the rows of a step in SQL, so that the one that counts comes first: the first finished copy, then open ones. Of the
 * rows of one copy, the one derived last.
 */
export const CURRENT_FIRST = `${IS_FINISHED} DESC, arrival, version DESC, received_at DESC`

/**
 * Which of several rows of one copy counts: an ended one before an open one, then the one with more content, then the one
 * derived last. From the highest bit: 1 ended, 24 size, 10 normalizer, 12 prices.
 */
function stepVersion(isEnded: boolean, size: number, derivation: Derivation): number {
  const { normalizerVersion, priceRevision } = derivation
  return (
    (isEnded ? 2 ** 47 : 0) +
    Math.min(size, 2 ** 24 - 1) * 2 ** 22 +
    Math.min(normalizerVersion, 2 ** 10 - 1) * 2 ** 12 +
    Math.min(priceRevision, 2 ** 12 - 1)
  )
}

/** The size of a row's payload, read from its version. */
export function payloadSize(version: number): number {
  return Math.floor(version / 2 ** 22) % 2 ** 24
}

/** `payloadSize` in SQL. */
export const PAYLOAD_SIZE = 'bitAnd(bitShiftRight(version, 22), 16777215)'

/** The version of a row after repricing, in SQL. */
export const REPRICED_VERSION = 'intDiv(version, 4096) * 4096 + least({revision:UInt32}, 4095)'

/** The text of a step that full-text search covers. The index and the queries must use the identical expression. */
export const SEARCH_TEXT =
  "lower(replaceAll(replaceAll(concat(name, ' ', attributes, ' ', events), '\\\\n', ' '), '\\\\t', ' '))"
