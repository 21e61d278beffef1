import { isoTime } from './session-time.ts'
import type { Step } from './step.ts'

/**
 * The steps of a long session without previews and payloads, in columns: a tenth of the bytes, and much faster to write and to
 * parse. A position is the index of a step.
 */
export type StepSkeleton = {
  ids: string[]
  /** The positions of the parents; -1 without one, and for a parent that is not in the list. */
  parents: number[]
  /** What many steps have in common, and which of these each step has. */
  commons: Common[]
  commonOf: number[]
  /** When each started, in milliseconds since the first did. */
  startsMs: number[]
  /** When each ended, in milliseconds since it started; null while it runs. */
  endsMs: (number | null)[]
  offsetsMs: number[]
  durationsMs: (number | null)[]
  /** When the first started. */
  startedAt: string
  /** What else single steps have. */
  others: [position: number, fields: Partial<Step>][]
}

type Common = Partial<Step> & Pick<Step, 'kind' | 'name' | 'status' | 'dialect' | 'hasPayload'>

/** Where the fields of a step go; a new one is in common, unless it is named here. */
type Column = 'id' | 'parentId' | 'startedAt' | 'endedAt' | 'offsetMs' | 'durationMs'
type LeftOut =
  | 'inputPreview'
  | 'outputPreview'
  | 'input'
  | 'output'
  | 'messages'
  | 'toolDefinitions'
  | 'parameters'
  | 'retrieval'
  | 'attributes'
type OtherField =
  | 'tool'
  | 'error'
  | 'usage'
  | 'cost'
  | 'handoff'
  | 'guardrail'
  | 'streaming'
  | 'responseId'
  | 'finishReasons'
  | 'logs'
  | 'changes'
type CommonField = Exclude<keyof Step, Column | LeftOut | OtherField> | 'tool'

/** Writes steps as columns, without previews and payloads. */
export function toSkeleton(steps: readonly Step[]): StepSkeleton {
  const startedAt = steps[0]?.startedAt ?? isoTime(0)
  const firstMs = Date.parse(startedAt)
  const skeleton: StepSkeleton = { ...emptyColumns(), startedAt }
  const positions = new Map(steps.map(({ id }, position) => [id, position]))
  const commons: KnownCommons = { list: skeleton.commons, byName: new Map() }
  for (const [position, step] of steps.entries()) {
    const startMs = Date.parse(step.startedAt)
    skeleton.ids.push(step.id)
    skeleton.parents.push(step.parentId === null ? -1 : (positions.get(step.parentId) ?? -1))
    skeleton.commonOf.push(findCommon(step, commons))
    skeleton.startsMs.push(startMs - firstMs)
    skeleton.endsMs.push(step.endedAt === null ? null : Date.parse(step.endedAt) - startMs)
    skeleton.offsetsMs.push(step.offsetMs)
    skeleton.durationsMs.push(step.durationMs)
    const others = othersOf(step, skeleton.parents[position] === -1)
    if (others !== undefined) skeleton.others.push([position, others])
  }
  return skeleton
}

function emptyColumns(): Omit<StepSkeleton, 'startedAt'> {
  return {
    ids: [],
    parents: [],
    commons: [],
    commonOf: [],
    startsMs: [],
    endsMs: [],
    offsetsMs: [],
    durationsMs: [],
    others: [],
  }
}

type KnownCommons = { list: Common[]; byName: Map<string, number[]> }

/** Looked up by name and then compared, which is several times faster than a key of all fields. */
function findCommon(step: Step, { list, byName }: KnownCommons): number {
  const common = commonOf(step)
  let alike = byName.get(step.name)
  if (alike === undefined) byName.set(step.name, (alike = []))
  for (const position of alike) if (isSame(list[position]!, common)) return position
  alike.push(list.push(common) - 1)
  return list.length - 1
}

function commonOf(step: Step): Common {
  const common: { [Field in CommonField]: unknown } = {
    kind: step.kind,
    name: step.name,
    status: step.status,
    hasPayload: step.hasPayload,
    dialect: step.dialect,
    model: step.model,
    requestedModel: step.requestedModel,
    provider: step.provider,
    usageScope: step.usageScope,
    costSource: step.costSource,
    agent: step.agent,
    effect: step.effect,
    source: step.source,
    attempt: step.attempt,
    isOrphan: step.isOrphan,
    isTruncated: step.isTruncated,
    isInferred: step.isInferred,
    tool: hasNamedTool(step) ? step.tool : undefined,
  }
  return common as Common
}

function isSame(left: Common, right: Common): boolean {
  return (
    left.kind === right.kind &&
    left.status === right.status &&
    left.model === right.model &&
    left.tool?.name === right.tool?.name &&
    left.agent === right.agent &&
    left.hasPayload === right.hasPayload &&
    left.dialect === right.dialect &&
    left.requestedModel === right.requestedModel &&
    left.provider === right.provider &&
    left.usageScope === right.usageScope &&
    left.costSource === right.costSource &&
    left.effect === right.effect &&
    left.source === right.source &&
    left.attempt === right.attempt &&
    left.isOrphan === right.isOrphan &&
    left.isTruncated === right.isTruncated &&
    left.isInferred === right.isInferred
  )
}

/** Of most tools only the name is known. */
function hasNamedTool({ tool }: Step): boolean {
  if (tool === undefined) return false
  for (const field in tool) if (field !== 'name') return false
  return true
}

function othersOf(step: Step, isWithoutKnownParent: boolean): Partial<Step> | undefined {
  const others: { [Field in OtherField | 'parentId']: unknown } = {
    parentId: isWithoutKnownParent ? (step.parentId ?? undefined) : undefined,
    tool: step.tool === undefined || hasNamedTool(step) ? undefined : step.tool,
    error: step.error,
    usage: step.usage,
    cost: step.cost ?? undefined,
    handoff: step.handoff,
    guardrail: step.guardrail,
    streaming: step.streaming,
    responseId: step.responseId,
    finishReasons: step.finishReasons,
    logs: step.logs,
    changes: step.changes,
  }
  for (const field in others) if (others[field as OtherField] !== undefined) return others as Partial<Step>
  return undefined
}

type SkeletonStep = Step & { isSkeleton?: true }

/** Whether a step comes from a skeleton: its previews have to be requested. */
export function isSkeleton(step: Step): boolean {
  return (step as SkeletonStep).isSkeleton === true
}

/** Reverses `toSkeleton`. `whole` are steps that came with previews and payloads. */
export function fromSkeleton(skeleton: StepSkeleton, whole: readonly Step[]): Step[] {
  const { ids, parents, commonOf: commonAt, startsMs, endsMs, offsetsMs, durationsMs } = skeleton
  // A step that has its payload has nothing that could be requested.
  const commons = skeleton.commons.map((common) =>
    common.hasPayload ? common : { ...common, isSkeleton: true as const },
  )
  const firstMs = Date.parse(skeleton.startedAt)
  const steps = ids.map<SkeletonStep>((id, position) => {
    const parent = parents[position]!
    const startMs = firstMs + startsMs[position]!
    const endMs = endsMs[position]!
    // In this order it takes half as long as with the common fields first.
    return {
      id,
      parentId: parent < 0 ? null : ids[parent]!,
      startedAt: isoTime(startMs),
      endedAt: endMs === null ? null : isoTime(startMs + endMs),
      offsetMs: offsetsMs[position]!,
      durationMs: durationsMs[position]!,
      cost: null,
      ...commons[commonAt[position]!]!,
    }
  })
  for (const [position, others] of skeleton.others) Object.assign(steps[position]!, others)
  if (whole.length === 0) return steps
  const wholeById = new Map(whole.map((step) => [step.id, step]))
  return steps.map((step) => wholeById.get(step.id) ?? step)
}
