import type { Step } from './step.ts'

export type StepBranch = { step: Step; children: StepBranch[] }

/**
 * Builds the tree of steps for display, in the given order. Steps without a known parent are at the top, and cycles
 * of parents are broken, so that every step is in the tree.
 */
export function buildStepTree(steps: readonly Step[]): StepBranch[] {
  const branches = new Map<string, StepBranch>()
  for (const step of steps) branches.set(step.id, { step, children: [] })
  const opened = openCircles(branches)
  const top: StepBranch[] = []
  for (const branch of branches.values()) {
    const { id, parentId } = branch.step
    const parent = parentId === null || opened.has(id) ? undefined : branches.get(parentId)
    if (parent === undefined) top.push(branch)
    else parent.children.push(branch)
  }
  return top
}

/** One step of every cycle: recordings come from strangers. */
function openCircles(branches: ReadonlyMap<string, StepBranch>): Set<string> {
  const opened = new Set<string>()
  const seenFrom = new Map<string, string>()
  for (const start of branches.keys()) {
    let branch = branches.get(start)
    while (branch !== undefined && !seenFrom.has(branch.step.id)) {
      seenFrom.set(branch.step.id, start)
      branch = branch.step.parentId === null ? undefined : branches.get(branch.step.parentId)
    }
    if (branch !== undefined && seenFrom.get(branch.step.id) === start) opened.add(branch.step.id)
  }
  return opened
}
