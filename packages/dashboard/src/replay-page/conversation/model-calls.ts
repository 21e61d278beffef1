import { lastUpTo } from '../playback/playhead-state.ts'
import { countUpTo, positionAt, type Timeline } from '../playback/timeline.ts'

const MAX_DISTANCE = 500

/**
 * The model call whose conversation belongs to a step: the step itself, the last call inside an agent or workflow that
 * had begun at a time, or the last call before it, preferably of the same agent.
 */
export function callOf(
  timeline: Timeline,
  llmCalls: readonly number[],
  position: number,
  timeMs = Infinity,
): number | undefined {
  const { steps, treeSizes } = timeline
  const step = steps[position]
  if (step === undefined) return undefined
  if (step.kind === 'llm') return position
  const isContainer = step.kind === 'agent' || step.kind === 'workflow'
  if (isContainer && treeSizes[position]! > 1) {
    const begun = countUpTo(llmCalls, positionAt(timeline, timeMs))
    for (let index = begun - 1; index >= 0 && llmCalls[index]! > position; index -= 1)
      if (isBelow(timeline, llmCalls[index]!, position)) return llmCalls[index]
  }
  return previousCall(timeline, llmCalls, position) ?? lastUpTo(llmCalls, position)
}

/** The previous model call in the same agent. */
export function previousCall(
  timeline: Timeline,
  llmCalls: readonly number[],
  position: number,
): number | undefined {
  const agent = agentAbove(timeline, position)
  let seen = 0
  for (let index = llmCalls.length - 1; index >= 0 && seen < MAX_DISTANCE; index -= 1) {
    const call = llmCalls[index]!
    if (call >= position) continue
    seen += 1
    if (agentAbove(timeline, call) === agent) return call
  }
  return undefined
}

function agentAbove({ parents, steps }: Timeline, position: number): number {
  let above = parents[position] ?? -1
  while (above >= 0 && steps[above]!.kind !== 'agent') above = parents[above]!
  return above
}

function isBelow({ parents }: Timeline, position: number, ancestor: number): boolean {
  let above = parents[position] ?? -1
  while (above > ancestor) above = parents[above]!
  return above === ancestor
}

/**
 * The action that a tool call led to: by call id, or the next action of that name after the model call. `call` is
 * undefined for earlier messages, whose model call is not known.
 */
export function actionOf(
  timeline: Timeline,
  call: number | undefined,
  { id, name }: { id?: string | undefined; name?: string | undefined },
): number | undefined {
  const { steps } = timeline
  if (id !== undefined) {
    const found = actionsByCallId(timeline).get(id)
    if (found !== undefined) return found
  }
  if (call === undefined) return undefined
  const last = Math.min(steps.length, call + MAX_DISTANCE)
  for (let position = call + 1; position < last; position += 1) {
    const step = steps[position]!
    if (step.kind === 'action' && (step.tool?.name ?? step.name) === name && step.tool?.callId === undefined)
      return position
  }
  return undefined
}

const tables = new WeakMap<object, ReadonlyMap<string, number>>()

function actionsByCallId({ steps }: Timeline): ReadonlyMap<string, number> {
  let table = tables.get(steps)
  if (table === undefined) {
    const built = new Map<string, number>()
    for (const [position, step] of steps.entries())
      if (step.kind === 'action' && step.tool?.callId !== undefined && !built.has(step.tool.callId))
        built.set(step.tool.callId, position)
    tables.set(steps, built)
    table = built
  }
  return table
}
