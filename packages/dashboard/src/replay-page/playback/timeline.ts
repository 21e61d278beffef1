import {
  buildStepTree,
  ownsError,
  type SessionSummary,
  type Step,
  type StepBranch,
  LOST_AFTER_MS,
  type Session,
} from '@playhead/model'
import { useEffect, useMemo, useState } from 'react'

/**
 * A session laid out for quick questions: what is where in time, and in the tree. Everything is by position, which is
 * the place of a step in the order of starts; typed tables keep a hundred thousand of them small.
 */
export type Timeline = {
  session: SessionSummary
  steps: readonly Step[]
  /** From the session's start to the last thing known of it. */
  durationMs: number
  positionOf: ReadonlyMap<string, number>
  startsMs: Float64Array
  /** Infinity for a step that has not ended, or never did. */
  endsMs: Float64Array
  /** The position of the parent; -1 at the top. */
  parents: Int32Array
  depths: Uint16Array
  /** Positions in the order of the tree, parents before children. */
  treeOrder: Int32Array
  /** Steps in the tree at and below each position. */
  treeSizes: Int32Array
  /** Steps that own an error, in the order of starts. */
  errors: readonly number[]
}

/** `untilMs`: how far a session that is still running has come. */
export function createTimeline(
  session: SessionSummary,
  given: readonly Step[],
  untilMs: number = 0,
): Timeline {
  const steps = inStartOrder(given)
  const startsMs = new Float64Array(steps.length)
  const endsMs = new Float64Array(steps.length)
  const positionOf = new Map<string, number>()
  const errors: number[] = []
  let lastMs = Math.max(session.durationMs ?? 0, untilMs)
  for (const [position, step] of steps.entries()) {
    const startMs = startOf(step)
    const endMs = step.durationMs === null ? Infinity : startMs + Math.max(0, step.durationMs)
    startsMs[position] = startMs
    endsMs[position] = endMs
    positionOf.set(step.id, position)
    if (ownsError(step)) errors.push(position)
    lastMs = Math.max(lastMs, endMs === Infinity ? startMs : endMs)
  }
  return {
    session,
    steps,
    durationMs: lastMs,
    positionOf,
    startsMs,
    endsMs,
    errors,
    ...plantTree(steps, positionOf),
  }
}

/** The position of the last step that began at or before a moment; -1 before the first. */
export function positionAt({ startsMs }: Pick<Timeline, 'startsMs'>, timeMs: number): number {
  return countUpTo(startsMs, timeMs) - 1
}

/** How many of these sorted numbers are at or below a limit. */
export function countUpTo(sorted: Float64Array, limit: number): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (sorted[middle]! <= limit) low = middle + 1
    else high = middle
  }
  return low
}

/** The steps above a position, the top first. */
export function pathTo({ parents }: Pick<Timeline, 'parents'>, position: number): number[] {
  const path: number[] = []
  for (let above = parents[position] ?? -1; above >= 0; above = parents[above]!) path.unshift(above)
  return path
}

function startOf({ offsetMs }: Step): number {
  return offsetMs > 0 ? offsetMs : 0
}

/** Recordings come from strangers: what should be sorted may not be. */
function inStartOrder(steps: readonly Step[]): readonly Step[] {
  let previousMs = 0
  for (const step of steps) {
    const startMs = startOf(step)
    if (startMs < previousMs) return steps.toSorted((left, right) => startOf(left) - startOf(right))
    previousMs = startMs
  }
  return steps
}

type Tree = Pick<Timeline, 'parents' | 'depths' | 'treeOrder' | 'treeSizes'>

/** Walks the tree without recursion: a chain of a hundred thousand steps is possible. */
function plantTree(steps: readonly Step[], positionOf: ReadonlyMap<string, number>): Tree {
  const tree: Tree = {
    parents: new Int32Array(steps.length).fill(-1),
    depths: new Uint16Array(steps.length),
    treeOrder: new Int32Array(steps.length),
    treeSizes: new Int32Array(steps.length).fill(1),
  }
  const waiting: { branch: StepBranch; parent: number }[] = []
  const push = (branches: readonly StepBranch[], parent: number) => {
    for (let index = branches.length - 1; index >= 0; index -= 1)
      waiting.push({ branch: branches[index]!, parent })
  }
  push(buildStepTree(steps), -1)
  let walked = 0
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const position = positionOf.get(next.branch.step.id)!
    tree.parents[position] = next.parent
    tree.depths[position] = next.parent < 0 ? 0 : Math.min(0xffff, tree.depths[next.parent]! + 1)
    tree.treeOrder[walked] = position
    walked += 1
    push(next.branch.children, position)
  }
  tree.treeOrder = tree.treeOrder.subarray(0, walked)
  for (let index = walked - 1; index >= 0; index -= 1) {
    const position = tree.treeOrder[index]!
    const parent = tree.parents[position]!
    if (parent >= 0) tree.treeSizes[parent]! += tree.treeSizes[position]!
  }
  return tree
}

const TICK_MS = 250

/** The session laid out in time. One that still runs grows with the clock, even while nothing is heard of it. */
export function useTimeline({ session, steps }: Session): Timeline {
  const laidOut = useMemo(() => createTimeline(session, steps), [session, steps])
  const isRunning = session.endState === 'running'
  const [nowMs, setNowMs] = useState(() => Date.now())
  useEffect(() => {
    if (!isRunning) return
    setNowMs(Date.now())
    const timer = setInterval(() => setNowMs(Date.now()), TICK_MS)
    return () => clearInterval(timer)
  }, [isRunning])
  const untilMs = isRunning ? runningFor(laidOut, nowMs) : laidOut.durationMs
  return useMemo(
    () => (untilMs === laidOut.durationMs ? laidOut : { ...laidOut, durationMs: untilMs }),
    [laidOut, untilMs],
  )
}

/** The clock of the sender may not be ours: what it says is believed as far as it makes sense. */
function runningFor({ session, durationMs }: Timeline, nowMs: number): number {
  const sinceStartMs = nowMs - Date.parse(session.startedAt)
  return sinceStartMs > durationMs && sinceStartMs < durationMs + LOST_AFTER_MS ? sinceStartMs : durationMs
}
