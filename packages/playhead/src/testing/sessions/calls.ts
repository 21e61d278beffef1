import { argumentsOf, type Effect, type Session, type Step } from '@playhead/model'

/** One call of an action or, where it is asked for as a whole, of a sub-agent with the calls inside it. */
export type Call = {
  name: string
  args: unknown
  effect?: Effect
  step: Step
  /** Its number in `playhead show`, from 1. */
  number: number
  /** The calls of a sub-agent; undefined for an action. */
  inside?: Call[]
}

/**
 * The calls of a session in the order in which they began, whichever agent made them. The agents named are calls of their
 * own, and what they call is inside them.
 */
export function callsOf({ steps }: Session, agents: ReadonlySet<string> = new Set()): Call[] {
  const byId = new Map(steps.map((step) => [step.id, step]))
  const top: Call[] = []
  const wholes = new Map<string, Call>()
  for (const [index, step] of steps.entries()) {
    const isWhole = step.kind === 'agent' && agents.has(agentName(step))
    if (!isWhole && step.kind !== 'action') continue
    const call = isWhole ? toAgentCall(step, index) : toCall(step, index)
    const around = ancestorsOf(step, byId)
    if (around.some((ancestor) => isSameCall(ancestor, step))) continue
    const whole = around.map(({ id }) => wholes.get(id)).find((found) => found !== undefined)
    ;(whole?.inside ?? top).push(call)
    if (isWhole) wholes.set(step.id, call)
  }
  return top
}

function toCall(step: Step, index: number): Call {
  const { effect } = step
  return {
    name: actionName(step),
    args: argumentsOf(step),
    ...(effect !== undefined && { effect }),
    step,
    number: index + 1,
  }
}

function toAgentCall(step: Step, index: number): Call {
  return { name: agentName(step), args: argumentsOf(step), step, number: index + 1, inside: [] }
}

function actionName(step: Step): string {
  return step.tool?.name ?? step.name
}

function agentName(step: Step): string {
  return step.agent ?? step.name
}

/** Innermost first; circles in recordings of strangers end. */
function ancestorsOf(step: Step, byId: ReadonlyMap<string, Step>): Step[] {
  const found: Step[] = []
  const seen = new Set([step.id])
  let parentId = step.parentId
  while (parentId !== null && !seen.has(parentId)) {
    seen.add(parentId)
    const parent = byId.get(parentId)
    if (parent === undefined) break
    found.push(parent)
    parentId = parent.parentId
  }
  return found
}

/** A framework's step for a tool call and our own for the function behind it are one call. */
function isSameCall(outer: Step, inner: Step): boolean {
  return (
    outer.kind === 'action' &&
    inner.kind === 'action' &&
    outer.dialect !== inner.dialect &&
    actionName(outer) === actionName(inner)
  )
}
