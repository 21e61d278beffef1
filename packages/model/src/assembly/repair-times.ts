import { BLIND, type StepNode, type StepNodes } from './step-node.ts'

/** Many senders round down to this, so that a step seems to start before a parent with a finer clock. */
const COARSE_CLOCK_MS = 1

export function repairTimes(walk: readonly StepNode[], nodes: StepNodes): void {
  if (walk.some(isTimeless)) fillMissingTimes(walk, nodes)
  for (const { step, parent } of walk) {
    if (parent === null) continue
    const earlyMs = parent.step.startedAtMs - step.startedAtMs
    if (!(earlyMs > 0 && earlyMs < COARSE_CLOCK_MS)) continue
    step.startedAtMs = parent.step.startedAtMs
    if (step.endedAtMs !== null && step.endedAtMs < step.startedAtMs) step.endedAtMs = step.startedAtMs
    nodes.isOrderSure = false
  }
}

/** Gives steps that were sent without times (OpenAI Agents' "trace" objects) the times of their children. */
function fillMissingTimes(walk: readonly StepNode[], nodes: StepNodes): void {
  nodes.isOrderSure = false
  for (let index = walk.length - 1; index >= 0; index -= 1) {
    const node = walk[index]!
    if (isTimeless(node)) takeChildrensTimes(node)
  }
  let earliest = Infinity
  for (const { step } of walk)
    if (step.startedAtMs > 0 && step.startedAtMs < earliest) earliest = step.startedAtMs
  for (const { step, parent } of walk) {
    if (step.startedAtMs > 0) continue
    step.startedAtMs = parent?.step.startedAtMs ?? (earliest === Infinity ? 0 : earliest)
    if (step.endedAtMs !== null || step.status !== 'running')
      step.endedAtMs = Math.max(step.endedAtMs ?? 0, step.startedAtMs)
  }
}

function isTimeless({ step }: StepNode): boolean {
  return step.startedAtMs === 0
}

function takeChildrensTimes(node: StepNode): void {
  let startedAtMs = Infinity
  let endedAtMs: number | null = 0
  for (let child = node.firstChild; child !== null; child = child.nextSibling) {
    const { step } = child
    if (step.startedAtMs === 0) continue
    startedAtMs = Math.min(startedAtMs, step.startedAtMs)
    endedAtMs = endedAtMs === null || step.endedAtMs === null ? null : Math.max(endedAtMs, step.endedAtMs)
  }
  if (startedAtMs === Infinity) return
  const { step } = node
  step.startedAtMs = startedAtMs
  step.endedAtMs = endedAtMs
  if (step.status === 'running' && endedAtMs !== null) step.status = 'ok'
  node.bits |= BLIND
}
