import { findCallsWithoutUsage } from '@playhead/model'
import { countUpTo, type Timeline } from './timeline.ts'

/** Tokens and cost so far, after each model call, in the order the calls ended. */
export type RunningTotals = {
  atMs: Float64Array
  inputTokens: Float64Array
  outputTokens: Float64Array
  cost: Float64Array
  hasCost: boolean
  /** When the calls ended whose cost is not known. */
  unpricedAtMs: Float64Array
}

export type Spent = {
  /** Undefined when no call has reported any yet. */
  inputTokens: number | undefined
  outputTokens: number | undefined
  cost: number | undefined
  isCostIncomplete: boolean
}

/** Counts each call once, like the session's own totals: `usageScope` says which steps count. */
export function createRunningTotals({ steps, startsMs, endsMs, positionOf }: Timeline): RunningTotals {
  const counted: number[] = []
  const unpriced: number[] = []
  for (let position = 0; position < steps.length; position += 1) {
    const step = steps[position]!
    if (step.usageScope !== 'call') continue
    counted.push(position)
    if (step.cost === null && step.usage !== undefined) unpriced.push(whenKnown(position))
  }
  for (const { id } of findCallsWithoutUsage(steps)) unpriced.push(whenKnown(positionOf.get(id)!))
  function whenKnown(position: number): number {
    const endMs = endsMs[position]!
    return endMs === Infinity ? startsMs[position]! : endMs
  }
  counted.sort((left, right) => whenKnown(left) - whenKnown(right))
  const totals: RunningTotals = {
    atMs: Float64Array.from(counted, whenKnown),
    inputTokens: new Float64Array(counted.length),
    outputTokens: new Float64Array(counted.length),
    cost: new Float64Array(counted.length),
    hasCost: false,
    unpricedAtMs: Float64Array.from(unpriced).sort(),
  }
  const sum = { input: 0, output: 0, cost: 0 }
  for (let index = 0; index < counted.length; index += 1) {
    const { usage, cost } = steps[counted[index]!]!
    totals.inputTokens[index] = sum.input += usage?.input ?? 0
    totals.outputTokens[index] = sum.output += usage?.output ?? 0
    totals.cost[index] = sum.cost += cost ?? 0
    if (cost !== null) totals.hasCost = true
  }
  return totals
}

export function spentAt(totals: RunningTotals, timeMs: number): Spent {
  const index = countUpTo(totals.atMs, timeMs) - 1
  const isCostIncomplete = countUpTo(totals.unpricedAtMs, timeMs) > 0
  if (index < 0) return { inputTokens: undefined, outputTokens: undefined, cost: undefined, isCostIncomplete }
  return {
    inputTokens: totals.inputTokens[index],
    outputTokens: totals.outputTokens[index],
    cost: totals.hasCost ? totals.cost[index] : undefined,
    isCostIncomplete,
  }
}
