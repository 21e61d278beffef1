import { BLIND, byStart, type StepNode, type StepNodes } from './step-node.ts'

/** Containers searched per step: enough for any real nesting, and a bound for hostile input. */
const MAX_CONTAINERS = 64

/**
 * Answers `parent-by-time`: steps that all name one root are nested by time. The root, which such senders create
 * afterwards, gets the times of its children.
 */
export function nestByTime(nodes: StepNodes): void {
  const { all, byId } = nodes
  let groups: Map<string, StepNode[]> | undefined
  for (const node of all) {
    const { parentId, treeQuestion, id } = node.step
    if (treeQuestion !== 'parent-by-time' || parentId === null || parentId === id) continue
    groups ??= new Map()
    const group = groups.get(parentId)
    if (group === undefined) groups.set(parentId, [node])
    else group.push(node)
  }
  if (groups === undefined) return
  for (const [rootId, group] of groups) {
    nestGroup(group)
    const root = byId.get(rootId)
    if (root !== undefined && takeTimesOf(group, root)) nodes.isOrderSure = false
  }
}

function nestGroup(group: StepNode[]): void {
  group.sort(containersFirst)
  const open: StepNode[] = []
  for (const node of group) {
    while (open.length > 0 && endOf(open.at(-1)!) < node.step.startedAtMs) open.pop()
    const container = findContainer(open, node)
    if (container !== undefined) node.step.parentId = container.step.id
    if (canContain(node)) open.push(node)
  }
}

function findContainer(open: readonly StepNode[], node: StepNode): StepNode | undefined {
  let innermost: StepNode | undefined
  const from = node.step.handoff?.from
  const last = Math.max(0, open.length - MAX_CONTAINERS)
  for (let index = open.length - 1; index >= last; index -= 1) {
    const container = open[index]!
    if (endOf(container) < endOf(node)) continue
    // Tools run in parallel, so time alone makes only an agent the child of a tool.
    if (container.step.kind === 'action' && node.step.kind !== 'agent') continue
    if (from === undefined || container.step.agent === from || container.step.name === from) return container
    // With millisecond clocks a handoff touches both agents: the one it names as sender wins.
    innermost ??= container
  }
  return innermost
}

function takeTimesOf(group: readonly StepNode[], root: StepNode): boolean {
  let startedAtMs = Infinity
  let endedAtMs = 0
  for (const node of group) {
    startedAtMs = Math.min(startedAtMs, node.step.startedAtMs)
    endedAtMs = Math.max(endedAtMs, node.step.endedAtMs ?? node.step.startedAtMs)
  }
  const wasMadeAfterwards = root.step.startedAtMs > startedAtMs
  if (!wasMadeAfterwards) return false
  root.step.startedAtMs = startedAtMs
  if (root.step.endedAtMs !== null) root.step.endedAtMs = endedAtMs
  root.bits |= BLIND
  return true
}

function canContain({ step }: StepNode): boolean {
  return step.kind === 'agent' || step.kind === 'workflow' || step.kind === 'action'
}

function endOf({ step }: StepNode): number {
  return step.endedAtMs ?? Infinity
}

function containersFirst(left: StepNode, right: StepNode): number {
  const starts = left.step.startedAtMs - right.step.startedAtMs
  if (starts !== 0) return starts
  const leftEnd = endOf(left)
  const rightEnd = endOf(right)
  if (leftEnd !== rightEnd) return rightEnd - leftEnd
  const containers = Number(canContain(right)) - Number(canContain(left))
  return containers || byStart(left, right)
}
