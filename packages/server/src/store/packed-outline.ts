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
  const { name, usage, error } = outline
  const part: Record<string, unknown> = { kind: outline.kind, ...packedFields(outline) }
  if (!outline.isParentRemote) part.isParentRemote = undefined
  if (usage !== undefined) part.usage = wholeUsage(usage)
  if (error?.type === '' && error.message === '') part.error = undefined
  for (const field of emptyMeansAbsent) if (part[field] === '') part[field] = undefined
  if (outline.toolRequests !== undefined || outline.toolAnswers !== undefined)
    Object.assign(part, shortToolUse(outline))
  const head = headOf(span, name)
  if (head !== undefined) part.span = head
  return wellFormedJson(part)
}

/** JSON without halves of surrogate pairs, which are no text. */
export function wellFormedJson(value: object): string {
  const text = JSON.stringify(value)
  if (!text.includes('\\ud')) return text
  return JSON.stringify(value, (_, part: unknown) => (typeof part === 'string' ? part.toWellFormed() : part))
}

function packedFields(outline: StepOutline): Partial<StepOutline> {
  const { sessionId, id, parentId, startedAtMs, endedAtMs, reporter, cost, costSource, changes, ...packed } =
    outline
  return packed
}

const emptyMeansAbsent = [
  'model',
  'provider',
  'toolName',
  'agent',
  'effect',
  'responseId',
  'inputPreview',
  'outputPreview',
] as const satisfies readonly (keyof StepOutline)[]

/** Tokens are whole and never negative. */
function wholeUsage(usage: Usage): Usage | undefined {
  const entries = Object.entries(usage).filter(([, value]) => value !== undefined)
  if (entries.length === 0) return undefined
  if (entries.every(([, value]) => Number.isSafeInteger(value) && value >= 0)) return usage
  return Object.fromEntries(
    entries.map(([name, value]) => [name, Math.min(Math.max(Math.floor(value), 0), Number.MAX_SAFE_INTEGER)]),
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

/** Reverses `packOutline`. Throws if the outline is not as it was written: whoever reads it relies on its types. */
export function unpackOutline({ span: _, ...part }: PackedOutline): Partial<StepOutline> {
  checkJsonPart(part)
  checkKind(part)
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
  for (const [field, value] of Object.entries(fields)) {
    const shape = jsonShapes[field]
    if (shape === undefined || value === undefined) continue
    const found = Array.isArray(value) ? 'list' : value === null ? 'null' : typeof value
    if (found !== shape) throw new TypeError(`"${field}" must be a ${shape}, not a ${found}`)
  }
}
