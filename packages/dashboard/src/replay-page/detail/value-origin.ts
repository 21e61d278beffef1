import type { ArgumentProblem, Step } from '@playhead/model'
import type { Timeline } from '../playback/timeline.ts'

/** A step that a value can have come from, and what it did with it, as a fact and not as a verdict. */
export type Origin = { position: number; says: string; isCall: boolean }

const STEPS_LOOKED_BACK = 500
const MOST_ORIGINS = 3

/**
 * Where an argument that may have broken an action came from: earlier actions that gave back nothing, and the model
 * call that asked for the action. The earliest first.
 */
export function findOrigins(
  timeline: Timeline,
  failed: Step,
  problem: ArgumentProblem,
  known: (step: Step) => Step = (step) => step,
): Origin[] {
  const position = timeline.positionOf.get(failed.id)
  if (position === undefined) return []
  const name = nameOf(problem.path)
  const origins: Origin[] = []
  let hasCall = false
  const oldest = Math.max(0, position - STEPS_LOOKED_BACK)
  for (let at = position - 1; at >= oldest && origins.length < MOST_ORIGINS; at -= 1) {
    const step = known(timeline.steps[at]!)
    if (timeline.endsMs[at]! > failed.offsetMs) continue
    const says = sayOf(step, { name, value: problem.value })
    if (says !== undefined) origins.unshift({ position: at, says, isCall: false })
    else if (!hasCall && isCallOf(step, failed)) {
      hasCall = true
      origins.unshift({ position: at, says: 'asked for it', isCall: true })
    }
  }
  return origins
}

function nameOf(path: string): string | undefined {
  return path.split(/[.[\]]/).findLast((part) => part !== '' && !/^\d+$/.test(part))
}

/** "returned null" or "returned customer_id=null"; undefined when it gave back something else. */
function sayOf(
  step: Step,
  { name, value }: { name: string | undefined; value: unknown },
): string | undefined {
  if (step.kind !== 'action' && step.kind !== 'retrieval') return undefined
  const output = resultOf(step)
  if (isNothing(output)) return isRelated(step, name) ? `returned ${String(output)}` : undefined
  if (name === undefined || typeof output !== 'object' || output === null) return undefined
  const key = Object.keys(output).find((candidate) => sameName(candidate, name))
  if (key === undefined) return undefined
  const given = (output as Record<string, unknown>)[key]
  return isNothing(given) && isNothing(value ?? null) ? `returned ${key}=${String(given)}` : undefined
}

function resultOf(step: Step): unknown {
  if (step.tool?.result !== undefined) return step.tool.result
  if (step.output !== undefined) return step.output
  return step.outputPreview === 'null' || step.outputPreview === 'None' ? null : step.outputPreview
}

function isNothing(value: unknown): boolean {
  return value === null || value === 'null' || value === 'None' || value === ''
}

/** An action that gave back nothing is told of when its name has to do with the argument: `extract_customer_id` → `customerId`. */
function isRelated(step: Step, name: string | undefined): boolean {
  return name !== undefined && flat(step.name).includes(flat(name))
}

function sameName(left: string, right: string): boolean {
  return flat(left) === flat(right)
}

function flat(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
}

/** A model call whose answer names the action: what previews write for tool calls is `→ name(…)`. */
function isCallOf(step: Step, failed: Step): boolean {
  if (step.kind !== 'llm') return false
  const tool = failed.tool?.name ?? failed.name
  const calls = step.messages?.flatMap((message) => (message.isOutput === true ? message.parts : []))
  if (calls?.some((part) => part.type === 'tool-call' && isSameCall(part, failed, tool)) === true) return true
  return step.outputPreview?.startsWith('→ ') === true && step.outputPreview.includes(`${tool}(`)
}

function isSameCall(call: { id?: string; name: string }, failed: Step, tool: string): boolean {
  const callId = failed.tool?.callId
  return callId !== undefined && call.id !== undefined ? call.id === callId : call.name === tool
}
