import { byStart, type StepNode, type StepNodes } from './step-node.ts'

/**
 * Links every step to its parent. A step with an unknown parent is an orphan, unless the parent is in another
 * process: then it is a root. A cycle of parents is cut at its earliest step.
 */
export function linkParents({ all, byId }: StepNodes): void {
  let mayHaveCircle = false
  for (const node of all) {
    const { step } = node
    if (step.parentId === null) continue
    const parent = byId.get(step.parentId)
    if (parent === node) step.parentId = null
    else if (parent !== undefined) {
      node.parent = parent
      // Parents normally start first; only a parent that starts later can close a cycle.
      if (byStart(parent, node) > 0) mayHaveCircle = true
    } else if (step.isParentRemote) step.parentId = null
    else step.isOrphan = true
  }
  if (mayHaveCircle) cutCircles(all)
}

/** All nodes, parents before children, children earliest first. Sets depth, siblings and position. */
export function walkDown({ all }: StepNodes): StepNode[] {
  const waiting: StepNode[] = []
  for (let index = all.length - 1; index >= 0; index -= 1) {
    const node = all[index]!
    if (node.parent === null) waiting.push(node)
    else {
      node.nextSibling = node.parent.firstChild
      node.parent.firstChild = node
    }
  }
  const walk: StepNode[] = []
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    node.position = walk.length
    if (node.parent !== null) node.step.depth = node.parent.step.depth + 1
    walk.push(node)
    if (node.nextSibling !== null) waiting.push(node.nextSibling)
    if (node.firstChild !== null) waiting.push(node.firstChild)
  }
  return walk
}

function cutCircles(all: readonly StepNode[]): void {
  const seenFrom = new Map<StepNode, StepNode>()
  for (const start of all) {
    let node: StepNode | null = start
    while (node !== null && !seenFrom.has(node)) {
      seenFrom.set(node, start)
      node = node.parent
    }
    if (node !== null && seenFrom.get(node) === start) cutCircleThrough(node)
  }
}

function cutCircleThrough(member: StepNode): void {
  let earliest = member
  for (let node = member.parent; node !== null && node !== member; node = node.parent)
    if (byStart(node, earliest) < 0) earliest = node
  earliest.parent = null
  earliest.step.parentId = null
}
