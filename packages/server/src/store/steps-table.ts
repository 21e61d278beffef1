import type { Attributes, Span, SpanEvent, SpanLink, StepOutline } from '@playhead/model'
import type { EncodedText } from '../log/encoded-text.ts'
import type { Columns } from '../log/native-block.ts'
import { DecodedSpan } from './decoded-span.ts'
import {
  checkJsonPart,
  checkKind,
  checkPackedOutline,
  expandToolUse,
  isPacked,
  packOutline,
  unpackOutline,
  writePacked,
  type PackedOutline,
  type SpanHead,
} from './packed-outline.ts'
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
  attributes: string | EncodedText
  events: string
  resource: string
  /** See `packOutline`. */
  packed: string | EncodedText
}

/** By which rules and prices a step was derived. For the same span, the later derivation wins. */
export type Derivation = { normalizerVersion: number; priceRevision: number }

export function toStepRow(
  project: string,
  span: Span,
  outline: StepOutline,
  context: { receivedAtMs: number; arrival: number; derivation: Derivation; resource: string },
): StepRow {
  const written = DecodedSpan.attributesJsonOf(span)
  const attributes = written ?? JSON.stringify(span.attributes)
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
    packed: written === undefined ? packOutline(outline, span) : writePacked(written.writer, outline, span),
  }
}

/** A column of earlier versions: new rows leave it empty. */
function formerColumn(field: 'inputPreview' | 'outputPreview', column: string) {
  return {
    columns: { [column]: { type: 'String', value: () => '' } },
    read(row: JsonRow, outline: StepOutline) {
      if (row[column] !== '') outline[field] = row[column] as string
    },
  } as const
}

/**
 * How each field of an outline is stored beside the packed outline: in a column that SQL reads, or with the span; `packed` for
 * those that need no column. Rows of earlier versions hold in these columns what is now packed.
 */
const outlineFields: FieldMap<StepOutline, 'span' | 'packed'> = {
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
      error_message: { type: 'String', value: () => '' },
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
  inputPreview: formerColumn('inputPreview', 'input_preview'),
  outputPreview: formerColumn('outputPreview', 'output_preview'),
  requestedModel: 'packed',
  isUsageRollup: 'packed',
  isUsageEstimated: 'packed',
  reportedCost: 'packed',
  finishReasons: 'packed',
  attempt: 'packed',
  source: 'packed',
  toolCallId: 'packed',
  questionPreview: 'packed',
  toolRequests: 'packed',
  toolAnswers: 'packed',
  handoff: 'packed',
  guardrail: 'packed',
  isStreamAborted: 'packed',
  isTruncated: 'packed',
  isInferred: 'packed',
  treeQuestion: 'packed',
  cause: 'packed',
  scores: 'packed',
  isScore: 'packed',
  session: 'packed',
  changes: 'span',
}

const outlineColumns = storedFields(outlineFields, ({ outline }: StepRow) => outline)

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
  outline: { type: 'String', value: (row) => row.packed },
} as const satisfies Columns<StepRow>

/** The columns of `steps`, except `segment`, which the log adds. */
export const stepColumns: Columns<StepRow> = {
  project: { type: 'String', value: (row) => row.project },
  version: { type: 'UInt64', value: (row) => row.version },
  arrival: { type: 'Int64', value: (row) => row.arrival },
  received_at: { type: "DateTime64(3, 'UTC')", value: (row) => row.receivedAtMs },
  normalizer_version: { type: 'UInt16', value: (row) => row.normalizerVersion },
  started_at: { type: "DateTime64(9, 'UTC')", value: ({ span }) => span.startNs },
  ended_at: { type: "Nullable(DateTime64(9, 'UTC'))", value: ({ span }) => span.endNs },
  ...spanColumns,
  ...outlineColumns.columns,
}

const outlineBase = [
  'session_id, step_id, parent_id, scope_name, outline',
  'toUnixTimestamp64Micro(started_at) AS started_us, toUnixTimestamp64Micro(ended_at) AS ended_us',
].join(', ')

/** What `outlineFromRow` needs of any row. */
export const outlineSelect = [outlineBase, ...Object.keys(outlineColumns.columns)].join(', ')

/** What it needs of a row whose outline is packed. */
export const packedOutlineSelect = `${outlineBase}, cost, cost_source`

/** What belongs to an outline, and is not packed with the rest of it. */
export type OutlineFacts = Pick<SpanRow, 'session_id' | 'step_id' | 'parent_id' | 'scope_name'> & {
  started_us: number
  ended_us: number | null
  cost: number | null
  cost_source: string
}

export type OutlineRow = JsonRow & OutlineFacts & { outline: string }

/** Whether a row can be read without the columns that earlier versions used. */
export function isPackedRow({ outline }: { outline: string }): boolean {
  return isPacked(outline)
}

/** The packed outline of a row that is read as an outline and as a span, if it was parsed already. */
type ParsedPart = { part?: PackedOutline | undefined }

function partOf({ outline, part }: { outline: string } & ParsedPart): PackedOutline {
  return part ?? parseObject(outline)
}

export function outlineFromRow(row: OutlineRow & ParsedPart): StepOutline {
  const part = partOf(row)
  if (isPacked(row.outline)) {
    checkPackedOutline(part)
    return joinOutline(row, part)
  }
  checkKind({ kind: row.kind, status: row.status })
  const outline = beginOutline(row, checkJsonPart(part))
  outlineColumns.read(row, outline)
  if (outline.toolRequests !== undefined || outline.toolAnswers !== undefined) expandToolUse(outline)
  return outline
}

/** Puts an outline together that was packed. `part` is as it was written. */
export function joinOutline(row: OutlineFacts, part: PackedOutline): StepOutline {
  const outline = beginOutline(row, unpackOutline(part))
  if (row.cost !== null) outline.cost = row.cost
  if (row.cost_source !== '') outline.costSource = row.cost_source as NonNullable<StepOutline['costSource']>
  return outline
}

function beginOutline(row: OutlineFacts, part: Partial<StepOutline>): StepOutline {
  const outline = {
    sessionId: row.session_id,
    id: row.step_id,
    parentId: row.parent_id === '' ? null : row.parent_id,
    isParentRemote: false,
    startedAtMs: row.started_us / 1000,
    endedAtMs: row.ended_us === null ? null : row.ended_us / 1000,
    ...part,
  } as StepOutline
  if (row.scope_name !== '') outline.reporter = row.scope_name
  return outline
}

/** What `outlineFromRow` would get back from the store, besides the packed outline. */
export function toOutlineFacts({ span, outline }: StepRow): OutlineFacts {
  return {
    session_id: span.traceId,
    step_id: span.spanId,
    parent_id: span.parentSpanId ?? '',
    scope_name: span.scope.name,
    started_us: Number(span.startNs / 1000n),
    ended_us: span.endNs === null ? null : Number(span.endNs / 1000n),
    cost: outline.cost ?? null,
    cost_source: outline.costSource ?? '',
  }
}

export const spanTimes =
  'toString(toUnixTimestamp64Nano(started_at)) AS started_ns, toString(toUnixTimestamp64Nano(ended_at)) AS ended_ns'

/** What `spanFromRow` needs of any row. */
export const spanSelect = [...Object.keys(spanColumns), spanTimes].join(', ')

/** What it needs of a row whose outline is packed. */
export const packedSpanSelect = `session_id, step_id, parent_id, scope_name, attributes, events, resource, outline, ${spanTimes}`

export type SpanRow = {
  [Name in keyof typeof spanColumns]: (typeof spanColumns)[Name]['type'] extends 'String' ? string : number
} & { started_ns: string; ended_ns: string | null }

export function spanFromRow(row: SpanRow & ParsedPart): Span {
  const part = partOf(row)
  const head = isPacked(row.outline) ? (part.span ?? {}) : headFromColumns(row)
  return {
    traceId: row.session_id,
    spanId: row.step_id,
    parentSpanId: row.parent_id === '' ? null : row.parent_id,
    isParentRemote: part.isParentRemote === true,
    name: head.name ?? part.name ?? '',
    kind: head.kind ?? 0,
    startNs: BigInt(row.started_ns),
    endNs: row.ended_ns === null ? null : BigInt(row.ended_ns),
    statusCode: head.statusCode ?? 0,
    statusMessage: head.statusMessage ?? '',
    attributes: parseObject(row.attributes) as Attributes,
    events: row.events === '' ? [] : eventsFromText(row.events),
    links: [...(head.links ?? [])],
    resource: parseObject(row.resource) as Attributes,
    scope: { name: row.scope_name, version: head.scopeVersion ?? '' },
  }
}

function headFromColumns(row: SpanRow): SpanHead {
  return {
    name: row.span_name,
    kind: row.span_kind,
    statusCode: row.status_code,
    statusMessage: row.status_message,
    scopeVersion: row.scope_version,
    links: row.links === '' ? [] : (parseList(row.links) as SpanLink[]),
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

/** The same as a value: the row with the highest one counts. */
export const CURRENCY = `tuple(${IS_FINISHED}, -arrival, version, received_at)`

/**
 * The rows of a project, as a subquery in which `session_id` is the session and not the trace: traces that joined another
 * one's session are read on their own, so that a condition on `session_id` still finds the others by the table's order.
 */
export function rowsBySession(database = ''): string {
  const prefix = database === '' ? '' : `${database}.`
  const moved = `FROM ${prefix}joined_traces FINAL WHERE project = {project:String} AND trace_id != session_id`
  return `(SELECT * FROM ${prefix}steps WHERE project = {project:String} AND session_id NOT IN (SELECT trace_id ${moved})
    UNION ALL
    SELECT row.* REPLACE (owner.id AS session_id) FROM ${prefix}steps AS row
      INNER JOIN (SELECT trace_id, session_id AS id ${moved}) AS owner ON row.session_id = owner.trace_id
      WHERE row.project = {project:String} AND row.session_id IN (SELECT trace_id ${moved}))`
}

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
