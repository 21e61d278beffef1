import { UNKNOWN_MODEL, type SessionSummary } from './session.ts'
import type { Step } from './step.ts'
import type { StepOutline } from './step-draft.ts'
import { hasUsage, isOutputMissing } from './usage.ts'

/** What to say of a call whose cost is unknown because its tokens are. */
export const NO_USAGE = 'no usage reported (OpenAI: stream_options.include_usage)'

/** What to say of a call whose cost is that of its input alone. */
export const NO_OUTPUT = 'no output tokens reported'

/** What the cost of a session does not include: "no price for my-model". Undefined if it includes every call. */
export function describeMissingCost({
  unpricedModels,
  modelsWithoutUsage = [],
  modelsWithoutOutput = [],
}: MissingModels): string | undefined {
  const reasons = [
    ...(unpricedModels.length > 0 ? [`no price for ${unpricedModels.join(', ')}`] : []),
    ...(modelsWithoutUsage.length > 0 ? [`${modelsWithoutUsage.join(', ')}: ${NO_USAGE}`] : []),
    ...(modelsWithoutOutput.length > 0 ? [`${modelsWithoutOutput.join(', ')}: ${NO_OUTPUT}`] : []),
  ]
  return reasons.length === 0 ? undefined : reasons.join('; ')
}

type MissingModels = Pick<SessionSummary, 'unpricedModels' | 'modelsWithoutUsage' | 'modelsWithoutOutput'>

/** Which usage the cost of a session lacks: "no usage reported …, no output tokens reported". */
export function describeMissingUsage({
  modelsWithoutUsage,
  modelsWithoutOutput,
}: Omit<MissingModels, 'unpricedModels'>): string | undefined {
  const reasons = [
    ...(modelsWithoutUsage === undefined ? [] : [NO_USAGE]),
    ...(modelsWithoutOutput === undefined ? [] : [NO_OUTPUT]),
  ]
  return reasons.length === 0 ? undefined : reasons.join(', ')
}

/** Whether the cost of a session does not include all of its calls. */
export function isCostIncomplete({
  unpricedModels,
  modelsWithoutUsage = [],
  modelsWithoutOutput = [],
}: MissingModels): boolean {
  return unpricedModels.length + modelsWithoutUsage.length + modelsWithoutOutput.length > 0
}

/** Why the cost of a session is not complete: models without a price, and calls that reported no usage or no output. */
export type MissingCosts = { unpricedModels: string[]; callsWithoutUsage: Step[]; callsWithoutOutput: Step[] }

export function findMissingCosts({
  session,
  steps,
}: {
  session: Pick<SessionSummary, 'unpricedModels' | 'modelsWithoutUsage'>
  steps: readonly Step[]
}): MissingCosts {
  const callsWithoutUsage = findCallsWithoutUsage(steps)
  return {
    unpricedModels: findUnpriced(session, steps, callsWithoutUsage),
    callsWithoutUsage,
    callsWithoutOutput: steps.filter((step) => step.usageScope === 'call' && isOutputUnknown(step)),
  }
}

/** Older versions listed models without usage as models without a price. */
function findUnpriced(
  { unpricedModels, modelsWithoutUsage }: Pick<SessionSummary, 'unpricedModels' | 'modelsWithoutUsage'>,
  steps: readonly Step[],
  callsWithoutUsage: readonly Step[],
): string[] {
  if (unpricedModels.length === 0 || modelsWithoutUsage !== undefined) return unpricedModels
  const silent = new Set(callsWithoutUsage.map(modelOf))
  const unpriced = new Set(steps.filter(({ cost, usage }) => cost === null && hasUsage(usage)).map(modelOf))
  return unpricedModels.filter((model) => !silent.has(model) || unpriced.has(model))
}

/** Whether a call that ended well reported tokens, but not those of its output, so that its cost is not known whole. */
export function isOutputUnknown({
  kind,
  status,
  usage,
  costSource,
}: Pick<StepOutline, 'kind' | 'status' | 'usage' | 'costSource'>): boolean {
  if (kind === 'embedding' || (status !== 'ok' && status !== 'soft-error')) return false
  return costSource !== 'reported' && isOutputMissing(usage)
}

function modelOf({ model, requestedModel }: Step): string {
  return model ?? requestedModel ?? UNKNOWN_MODEL
}

/** The model calls that ended well, and for which no step reported tokens or a cost. */
export function findCallsWithoutUsage(steps: readonly Step[]): Step[] {
  const silent = steps.filter((step) => isModelCall(step) && lacksUsage(step))
  // Most sessions have none, and the maps below take long for a hundred thousand steps.
  if (silent.length === 0) return []
  const byId = new Map(steps.map((step) => [step.id, step]))
  // Where two steps report the same call, the inner one stands for it.
  const outerCalls = new Set(steps.filter(isModelCall).map(({ parentId }) => parentId))
  return silent.filter((step) => !outerCalls.has(step.id) && !isCountedAbove(step, byId))
}

function isModelCall({ kind }: Step): boolean {
  return kind === 'llm' || kind === 'embedding'
}

function lacksUsage({ status, usage, usageScope, cost }: Step): boolean {
  const isCounted = usageScope === undefined || usageScope === 'call'
  const hasEnded = status === 'ok' || status === 'soft-error'
  return isCounted && hasEnded && cost === null && !hasUsage(usage)
}

function isCountedAbove({ parentId }: Step, byId: ReadonlyMap<string, Step>): boolean {
  const seen = new Set<string>()
  for (let id = parentId; id !== null && !seen.has(id);) {
    seen.add(id)
    const above = byId.get(id)
    if (above === undefined) return false
    if (above.usageScope === 'call' && hasUsage(above.usage)) return true
    id = above.parentId
  }
  return false
}
