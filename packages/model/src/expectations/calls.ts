import { argumentsOf } from '../session/problem.ts'
import type { Session } from '../session/session.ts'
import type { Effect, Step } from '../session/step.ts'

/** A call of an action, or of a sub-agent together with the calls inside it. */
export type Call = {
  name: string
  args: unknown
  effect?: Effect
  step: Step
  /** The step's number in `playhead show`, from 1. */
  number: number
  /** The calls made by a sub-agent; undefined for an action. */
  inside?: Call[]
}

/** The calls of a session in order of their start. The named sub-agents count as one call each, with their own calls inside. */
export function callsOf({ steps }: Session, agents: ReadonlySet<string> = new Set()): Call[] {
  const byId = new Map(steps.map((step) => [step.id, step]))
  const top: Call[] = []
  const agentCalls = new Map<string, Call>()
  for (const [index, step] of steps.entries()) {
    const isAgent = step.kind === 'agent' && agents.has(agentName(step))
    if (!isAgent && step.kind !== 'action') continue
    const call = isAgent ? toAgentCall(step, index) : toCall(step, index)
    const ancestors = ancestorsOf(step, byId)
    if (ancestors.some((ancestor) => isSameCall(ancestor, step))) continue
    const agentCall = ancestors.map(({ id }) => agentCalls.get(id)).find((found) => found !== undefined)
    ;(agentCall?.inside ?? top).push(call)
    if (isAgent) agentCalls.set(step.id, call)
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

/** Innermost first. Tolerates cycles, which malformed recordings may contain. */
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

/** A framework's step for a tool call and our own step for the function behind it are one call. */
function isSameCall(outer: Step, inner: Step): boolean {
  return (
    outer.kind === 'action' &&
    inner.kind === 'action' &&
    outer.dialect !== inner.dialect &&
    actionName(outer) === actionName(inner)
  )
}
