import { UNKNOWN_MODEL, type SessionSummary } from './session.ts'
import type { Step } from './step.ts'
import { hasUsage } from './usage.ts'

/** What to say of a call whose cost is unknown because its tokens are. */
export const NO_USAGE = 'no usage reported (OpenAI: stream_options.include_usage)'

/** What the cost of a session does not include: "no price for my-model". Undefined if it includes every call. */
export function describeMissingCost({
  unpricedModels,
  modelsWithoutUsage = [],
}: Pick<SessionSummary, 'unpricedModels' | 'modelsWithoutUsage'>): string | undefined {
  const reasons = [
    ...(unpricedModels.length > 0 ? [`no price for ${unpricedModels.join(', ')}`] : []),
    ...(modelsWithoutUsage.length > 0 ? [`${modelsWithoutUsage.join(', ')}: ${NO_USAGE}`] : []),
  ]
  return reasons.length === 0 ? undefined : reasons.join('; ')
}

/** Why the cost of a session is not complete: models without a price, and calls that reported no usage. */
export type MissingCosts = { unpricedModels: string[]; callsWithoutUsage: Step[] }

export function findMissingCosts({
  session,
  steps,
}: {
  session: Pick<SessionSummary, 'unpricedModels'>
  steps: readonly Step[]
}): MissingCosts {
  const callsWithoutUsage = findCallsWithoutUsage(steps)
  const silent = new Set(callsWithoutUsage.map(modelOf))
  const unpriced = new Set(steps.filter(({ cost, usage }) => cost === null && hasUsage(usage)).map(modelOf))
  return {
    unpricedModels: session.unpricedModels.filter((model) => !silent.has(model) || unpriced.has(model)),
    callsWithoutUsage,
  }
}

function modelOf({ model, requestedModel }: Step): string {
  return model ?? requestedModel ?? UNKNOWN_MODEL
}

/** The model calls that ended well, and for which no step reported tokens or a cost. */
export function findCallsWithoutUsage(steps: readonly Step[]): Step[] {
  const byId = new Map(steps.map((step) => [step.id, step]))
  // Where two steps report the same call, the inner one stands for it.
  const outerCalls = new Set(steps.filter(isModelCall).map(({ parentId }) => parentId))
  return steps.filter(
    (step) =>
      isModelCall(step) && lacksUsage(step) && !outerCalls.has(step.id) && !isCountedAbove(step, byId),
  )
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
