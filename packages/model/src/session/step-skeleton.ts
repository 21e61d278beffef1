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

/** Where a field goes. A new field has to be decided here. */
const places: Record<keyof Step, 'column' | 'common' | 'other' | 'left out'> = {
  id: 'column',
  parentId: 'column',
  startedAt: 'column',
  endedAt: 'column',
  offsetMs: 'column',
  durationMs: 'column',
  kind: 'common',
  name: 'common',
  status: 'common',
  hasPayload: 'common',
  dialect: 'common',
  model: 'common',
  requestedModel: 'common',
  provider: 'common',
  usageScope: 'common',
  costSource: 'common',
  agent: 'common',
  effect: 'common',
  source: 'common',
  attempt: 'common',
  isOrphan: 'common',
  isTruncated: 'common',
  isInferred: 'common',
  tool: 'other',
  error: 'other',
  usage: 'other',
  cost: 'other',
  handoff: 'other',
  guardrail: 'other',
  streaming: 'other',
  responseId: 'other',
  finishReasons: 'other',
  logs: 'other',
  changes: 'other',
  inputPreview: 'left out',
  outputPreview: 'left out',
  input: 'left out',
  output: 'left out',
  messages: 'left out',
  toolDefinitions: 'left out',
  parameters: 'left out',
  retrieval: 'left out',
  attributes: 'left out',
}

const fields = Object.keys(places) as (keyof Step)[]
const commonFields = fields.filter((field) => places[field] === 'common')
const otherFields = fields.filter((field) => places[field] === 'other')

/** Writes steps as columns, without previews and payloads. */
export function toSkeleton(steps: readonly Step[]): StepSkeleton {
  const startedAt = steps[0]?.startedAt ?? isoTime(0)
  const firstMs = Date.parse(startedAt)
  const skeleton: StepSkeleton = { ...emptyColumns(), startedAt }
  const positions = new Map(steps.map(({ id }, position) => [id, position]))
  const commons = new Map<string, number>()
  for (const [position, step] of steps.entries()) {
    const startMs = Date.parse(step.startedAt)
    skeleton.ids.push(step.id)
    skeleton.parents.push(step.parentId === null ? -1 : (positions.get(step.parentId) ?? -1))
    skeleton.commonOf.push(commonOf(step, skeleton.commons, commons))
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

function commonOf(step: Step, commons: Common[], known: Map<string, number>): number {
  // Most actions have a tool of which only the name is known.
  const tool = hasNamedTool(step) ? step.tool!.name : undefined
  let key = String(tool)
  for (const field of commonFields) key += `\0${String(step[field])}`
  const found = known.get(key)
  if (found !== undefined) return found
  const common: Record<string, unknown> = tool === undefined ? {} : { tool: { name: tool } }
  for (const field of commonFields) if (step[field] !== undefined) common[field] = step[field]
  known.set(key, commons.length)
  return commons.push(common as Common) - 1
}

function hasNamedTool({ tool }: Step): boolean {
  if (tool === undefined) return false
  for (const field in tool) if (field !== 'name') return false
  return true
}

function othersOf(step: Step, isWithoutKnownParent: boolean): Partial<Step> | undefined {
  let others: Record<string, unknown> | undefined
  for (const field of otherFields) {
    const value = step[field]
    if (value === undefined || value === null || (field === 'tool' && hasNamedTool(step))) continue
    others ??= {}
    others[field] = value
  }
  if (isWithoutKnownParent && step.parentId !== null) others = { ...others, parentId: step.parentId }
  return others
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
  const wholeById = new Map(whole.map((step) => [step.id, step]))
  const steps = ids.map<SkeletonStep>((id, position) => {
    const parent = parents[position]!
    const startMs = firstMs + startsMs[position]!
    const endMs = endsMs[position]!
    return {
      ...commons[commonAt[position]!]!,
      id,
      parentId: parent < 0 ? null : ids[parent]!,
      startedAt: isoTime(startMs),
      endedAt: endMs === null ? null : isoTime(startMs + endMs),
      offsetMs: offsetsMs[position]!,
      durationMs: durationsMs[position]!,
      cost: null,
    }
  })
  for (const [position, others] of skeleton.others) Object.assign(steps[position]!, others)
  return steps.map((step) => wholeById.get(step.id) ?? step)
}
