import {
  stepKinds,
  type Span,
  type SpanLink,
  type StepOutline,
  type StepStatus,
  type ToolAnswer,
  type ToolRequest,
  type Usage,
} from '@playhead/model'
import type { EncodedText } from '../log/encoded-text.ts'
import type { JsonWriter } from '../log/json-writer.ts'

/** What a span has besides its payload and the columns that are always read; most is missing from most spans. */
export type SpanHead = {
  name?: string
  kind?: number
  statusCode?: number
  statusMessage?: string
  scopeVersion?: string
  links?: readonly SpanLink[]
}

/** A packed outline, parsed. */
export type PackedOutline = Partial<StepOutline> & { span?: SpanHead }

/** Begins every packed outline. Earlier versions stored these fields in columns of their own. */
const START = '{"kind":"'

/** Whether the column `outline` holds the whole outline, and not only the fields that had no column. */
export function isPacked(text: string): boolean {
  return text.startsWith(START)
}

/**
 * Writes what lists and trees show of a step as one JSON text: the engine reads one column much faster than thirty. Costs have
 * columns, because repricing changes them; so has what SQL filters by.
 */
export function packOutline(outline: StepOutline, span: Span): string {
  return wellFormedJson(partToPack(outline, span))
}

/** As `packOutline`, in memory that is used again. */
export function writePacked(writer: JsonWriter, outline: StepOutline, span: Span): EncodedText {
  return writer.writeObject(partToPack(outline, span))
}

function partToPack(outline: StepOutline, span: Span): WholePart {
  const { error, toolRequests, toolAnswers } = outline
  const hasToolUse = toolRequests !== undefined || toolAnswers !== undefined
  const toolUse = hasToolUse ? shortToolUse(outline) : undefined
  // One literal with every field, because objects of one shape are made and written several times faster than copies.
  return {
    kind: outline.kind,
    name: outline.name,
    isParentRemote: outline.isParentRemote ? true : undefined,
    dialect: outline.dialect,
    status: outline.status,
    error: error?.type === '' && error.message === '' ? undefined : error,
    model: outline.model || undefined,
    requestedModel: outline.requestedModel,
    provider: outline.provider || undefined,
    usage: outline.usage === undefined ? undefined : wholeUsage(outline.usage),
    isUsageRollup: outline.isUsageRollup,
    isUsageEstimated: outline.isUsageEstimated,
    reportedCost: outline.reportedCost,
    responseId: outline.responseId || undefined,
    finishReasons: outline.finishReasons,
    attempt: outline.attempt,
    toolName: outline.toolName || undefined,
    toolCallId: outline.toolCallId,
    toolRequests: toolUse?.toolRequests,
    toolAnswers: toolUse?.toolAnswers,
    agent: outline.agent || undefined,
    effect: outline.effect || undefined,
    source: outline.source,
    handoff: outline.handoff,
    guardrail: outline.guardrail,
    firstTokenMs: outline.firstTokenMs,
    isStreamAborted: outline.isStreamAborted,
    inputPreview: outline.inputPreview || undefined,
    questionPreview: outline.questionPreview,
    outputPreview: outline.outputPreview || undefined,
    isTruncated: outline.isTruncated,
    isInferred: outline.isInferred,
    treeQuestion: outline.treeQuestion,
    cause: outline.cause,
    scores: outline.scores,
    isScore: outline.isScore,
    session: outline.session,
    span: headOf(span, outline.name),
  }
}

/** What the span and the columns have instead. */
type Elsewhere =
  | 'sessionId'
  | 'id'
  | 'parentId'
  | 'startedAtMs'
  | 'endedAtMs'
  | 'reporter'
  | 'cost'
  | 'costSource'
  | 'changes'

type WholePart = { [Field in Exclude<keyof StepOutline, Elsewhere>]-?: unknown } & {
  span: SpanHead | undefined
}

/** JSON without halves of surrogate pairs, which are no text. */
export function wellFormedJson(value: object): string {
  const text = JSON.stringify(value)
  if (!text.includes('\\ud')) return text
  return JSON.stringify(value, (_, part: unknown) => (typeof part === 'string' ? part.toWellFormed() : part))
}

/** Tokens are whole and never negative. */
function wholeUsage(usage: Usage): Usage | undefined {
  let [isEmpty, isWhole] = [true, true]
  for (const name in usage) {
    const value = usage[name as keyof Usage]
    if (value === undefined) continue
    isEmpty = false
    if (!Number.isSafeInteger(value) || value < 0) isWhole = false
  }
  if (isEmpty) return undefined
  if (isWhole) return usage
  return Object.fromEntries(
    Object.entries(usage)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, Math.min(Math.max(Math.floor(value), 0), Number.MAX_SAFE_INTEGER)]),
  )
}

function headOf(
  { name, kind, statusCode, statusMessage, scope, links }: Span,
  shown: string,
): SpanHead | undefined {
  const head: SpanHead = {}
  if (name !== shown) head.name = name
  if (kind !== 0) head.kind = kind
  if (statusCode !== 0) head.statusCode = statusCode
  if (statusMessage !== '') head.statusMessage = statusMessage
  if (scope.version !== '') head.scopeVersion = scope.version
  if (links.length > 0) head.links = links
  for (const _ in head) return head
  return undefined
}

/** Throws if an outline that was packed is not as it was written: whoever reads it relies on its types. */
export function checkPackedOutline(part: PackedOutline): void {
  checkJsonPart(part)
  checkKind(part)
}

/** Reverses `packOutline`. */
export function unpackOutline({ span: _, ...part }: PackedOutline): Partial<StepOutline> {
  if (part.firstTokenMs === null) delete part.firstTokenMs
  if (part.toolRequests !== undefined || part.toolAnswers !== undefined) expandToolUse(part)
  return part
}

const kinds: ReadonlySet<unknown> = new Set(stepKinds)
const statuses: ReadonlySet<unknown> = new Set<StepStatus>(['ok', 'error', 'soft-error', 'running'])

export function checkKind({ kind, status }: { kind?: unknown; status?: unknown }): void {
  if (!kinds.has(kind)) throw new TypeError(`it has the unknown kind "${String(kind)}"`)
  if (!statuses.has(status)) throw new TypeError(`it has the unknown status "${String(status)}"`)
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
export function expandToolUse({
  toolRequests = [],
  toolAnswers = [],
  inputPreview,
  outputPreview = '',
}: Partial<StepOutline>): void {
  for (const request of toolRequests as Short<ToolRequest, 'inputPreview'>[])
    if (request.inputPreview === null)
      request.inputPreview = outputPreview.slice(describeCall({ name: request.name }).length - 1, -1)
  for (const answer of toolAnswers as Short<ToolAnswer, 'outputPreview'>[])
    if (answer.outputPreview === null && inputPreview !== undefined) answer.outputPreview = inputPreview
}

type Shape = 'string' | 'number' | 'boolean' | 'object' | 'list'

const jsonShapes: Readonly<Record<string, Shape>> = {
  dialect: 'string',
  model: 'string',
  provider: 'string',
  toolName: 'string',
  agent: 'string',
  effect: 'string',
  responseId: 'string',
  usage: 'object',
  inputPreview: 'string',
  outputPreview: 'string',
  requestedModel: 'string',
  isUsageRollup: 'boolean',
  isUsageEstimated: 'boolean',
  reportedCost: 'number',
  finishReasons: 'list',
  attempt: 'number',
  source: 'string',
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
  scores: 'list',
  isScore: 'boolean',
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

/** Throws if a field has another type than was written. */
export function checkJsonPart(part: Partial<StepOutline>): Partial<StepOutline> {
  checkShapes(part)
  if (part.session !== undefined) checkShapes(part.session)
  return part
}

function checkShapes(fields: object): void {
  for (const field in fields) {
    const shape = jsonShapes[field]
    const value = (fields as Record<string, unknown>)[field]
    if (shape === undefined || value === undefined) continue
    const found = Array.isArray(value) ? 'list' : value === null ? 'null' : typeof value
    if (found !== shape) throw new TypeError(`"${field}" must be a ${shape}, not a ${found}`)
  }
}
