import { contextWindowOf } from './context-window.ts'
import { pathTo, positionAt, type Timeline } from './timeline.ts'

/** Steps that are looked back at for one that is still running: parallel branches are seldom wider. */
const LOOKED_BACK = 256

/** `ahead`: not begun. `running`: begun and not ended. `done`: ended. */
export type Phase = 'ahead' | 'running' | 'done'

/** Where a step stands when the playhead is somewhere. A playhead that rests at the start hides nothing. */
export function phaseOf(step: { startMs: number; endMs: number }, timeMs: number, isAtRest: boolean): Phase {
  if (isAtRest) return 'done'
  if (step.startMs > timeMs) return 'ahead'
  return step.endMs > timeMs ? 'running' : 'done'
}

/** The steps under way at a moment, the outermost first; empty when none is. */
export function runningPath(timeline: Timeline, timeMs: number): number[] {
  const innermost = innermostRunning(timeline, timeMs)
  return innermost < 0 ? [] : [...pathTo(timeline, innermost), innermost]
}

function innermostRunning(timeline: Timeline, timeMs: number): number {
  const { endsMs, parents } = timeline
  const last = positionAt(timeline, timeMs)
  for (let position = last; position >= Math.max(0, last - LOOKED_BACK); position -= 1)
    if (isUnderWay(timeline, position, timeMs)) return position
  for (let above = parents[last] ?? -1; above >= 0; above = parents[above]!)
    if (endsMs[above]! > timeMs) return above
  return -1
}

/** A step of no length is under way at its very moment. */
function isUnderWay({ startsMs, endsMs }: Timeline, position: number, timeMs: number): boolean {
  return endsMs[position]! > timeMs || (startsMs[position] === timeMs && endsMs[position] === timeMs)
}

export type ContextUse = { tokens: number; windowTokens: number; model: string }

/** How full the window of the model was at its last call; undefined when the model's window is not known. */
export function contextAt(
  timeline: Timeline,
  llmCalls: readonly number[],
  timeMs: number,
): ContextUse | undefined {
  const position = lastUpTo(llmCalls, positionAt(timeline, timeMs))
  if (position === undefined) return undefined
  const { usage, model, requestedModel } = timeline.steps[position]!
  const name = model ?? requestedModel
  const windowTokens = name === undefined ? undefined : contextWindowOf(name)
  if (usage?.input === undefined || windowTokens === undefined) return undefined
  return { tokens: usage.input, windowTokens, model: name! }
}

/** Positions of the model calls, each call once. */
export function findLlmCalls({ steps }: Pick<Timeline, 'steps'>): number[] {
  const calls: number[] = []
  for (const [position, step] of steps.entries())
    if (step.kind === 'llm' && step.usageScope !== 'duplicate' && step.usageScope !== 'rollup')
      calls.push(position)
  return calls
}

/** The last of these sorted positions at or before one. */
export function lastUpTo(sorted: readonly number[], limit: number): number | undefined {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (sorted[middle]! <= limit) low = middle + 1
    else high = middle
  }
  return sorted[low - 1]
}
