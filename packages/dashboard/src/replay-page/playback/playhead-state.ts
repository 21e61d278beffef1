import { contextWindowOf } from './context-window.ts'
import { ancestorsOf, countUpTo, positionAt, type Timeline } from './timeline.ts'

/** How many steps back to look for one that is still running: parallel branches are rarely wider. */
const LOOKED_BACK = 256

/** `ahead`: not started yet at the playhead. */
export type Phase = 'ahead' | 'running' | 'done'

/** The phase of a step at the playhead. A playhead at rest hides nothing. */
export function phaseOf(step: { startMs: number; endMs: number }, timeMs: number, isAtRest: boolean): Phase {
  if (isAtRest) return 'done'
  if (step.startMs > timeMs) return 'ahead'
  return step.endMs > timeMs ? 'running' : 'done'
}

/** The steps running at a time, outermost first. */
export function runningPath(timeline: Timeline, timeMs: number): number[] {
  const innermost = innermostRunning(timeline, timeMs)
  return innermost < 0 ? [] : [...ancestorsOf(timeline, innermost), innermost]
}

function innermostRunning(timeline: Timeline, timeMs: number): number {
  const { endsMs, parents } = timeline
  const last = positionAt(timeline, timeMs)
  for (let position = last; position >= Math.max(0, last - LOOKED_BACK); position -= 1)
    if (isRunningAt(timeline, position, timeMs)) return position
  for (let above = parents[last] ?? -1; above >= 0; above = parents[above]!)
    if (endsMs[above]! > timeMs) return above
  return -1
}

/** A step without a duration is running at its very start. */
function isRunningAt({ startsMs, endsMs }: Timeline, position: number, timeMs: number): boolean {
  return endsMs[position]! > timeMs || (startsMs[position] === timeMs && endsMs[position] === timeMs)
}

export type ContextUse = { tokens: number; windowTokens: number; model: string }

/** How full the model's context window was at the last call; undefined when the size of the window is unknown. */
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

/** Positions of the model calls, without duplicates and rollups. */
export function findLlmCalls({ steps }: Pick<Timeline, 'steps'>): number[] {
  const calls: number[] = []
  for (let position = 0; position < steps.length; position += 1) {
    const { kind, usageScope } = steps[position]!
    if (kind === 'llm' && usageScope !== 'duplicate' && usageScope !== 'rollup') calls.push(position)
  }
  return calls
}

/** The last of these sorted positions at or before one. */
export function lastUpTo(sorted: readonly number[], limit: number): number | undefined {
  return sorted[countUpTo(sorted, limit) - 1]
}
