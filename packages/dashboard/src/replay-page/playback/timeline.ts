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
 * A session indexed by time and by tree. A position is the index of a step in start order. Typed arrays keep a hundred
 * thousand steps small.
 */
export type Timeline = {
  session: SessionSummary
  steps: readonly Step[]
  /** From the start of the session to its last known event. */
  durationMs: number
  positionOf: ReadonlyMap<string, number>
  startsMs: Float64Array
  /** Infinity for a step that has not ended. */
  endsMs: Float64Array
  /** The position of the parent; -1 for a root. */
  parents: Int32Array
  depths: Uint16Array
  /** Positions in tree order, parents before children. */
  treeOrder: Int32Array
  /** The size of the subtree at each position, its root included. */
  treeSizes: Int32Array
  /** Positions of the steps that own an error, in start order. */
  errors: readonly number[]
  /** Of a re-run: the position of the first step after the last one that the tape answered. */
  tapeEnd: number | undefined
}

export function createTimeline(session: SessionSummary, given: readonly Step[]): Timeline {
  const steps = inStartOrder(given)
  const startsMs = new Float64Array(steps.length)
  const endsMs = new Float64Array(steps.length)
  const positionOf = new Map<string, number>()
  const errors: number[] = []
  let lastMs = session.durationMs ?? 0
  let hasTape = false
  let tapeEnd: number | undefined
  for (let position = 0; position < steps.length; position += 1) {
    const step = steps[position]!
    const startMs = startOf(step)
    const endMs = step.durationMs === null ? Infinity : startMs + Math.max(0, step.durationMs)
    startsMs[position] = startMs
    endsMs[position] = endMs
    positionOf.set(step.id, position)
    if (ownsError(step)) errors.push(position)
    if (step.source === 'tape') [hasTape, tapeEnd] = [true, undefined]
    else if (step.source !== undefined && hasTape) tapeEnd ??= position
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
    tapeEnd,
    ...(indexOrderedTree(steps, positionOf) ?? indexTree(steps, positionOf)),
  }
}

/** The position of the last step that started at or before a time; -1 before the first. */
export function positionAt({ startsMs }: Pick<Timeline, 'startsMs'>, timeMs: number): number {
  return countUpTo(startsMs, timeMs) - 1
}

/** How many of these sorted numbers are at or below a limit. */
export function countUpTo(sorted: ArrayLike<number>, limit: number): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (sorted[middle]! <= limit) low = middle + 1
    else high = middle
  }
  return low
}

/** The positions of a step's ancestors, outermost first. */
export function ancestorsOf({ parents }: Pick<Timeline, 'parents'>, position: number): number[] {
  const path: number[] = []
  for (let above = parents[position] ?? -1; above >= 0; above = parents[above]!) path.unshift(above)
  return path
}

function startOf({ offsetMs }: Step): number {
  return offsetMs > 0 ? offsetMs : 0
}

/** Recordings come from anywhere, so their steps may be out of order. */
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

/**
 * The tree of steps whose parents all started before them, which is almost every session: their positions say all, and no
 * circle is possible. Undefined for others.
 */
function indexOrderedTree(steps: readonly Step[], positionOf: ReadonlyMap<string, number>): Tree | undefined {
  if (positionOf.size !== steps.length) return undefined
  const parents = new Int32Array(steps.length).fill(-1)
  const depths = new Uint16Array(steps.length)
  for (let position = 0; position < steps.length; position += 1) {
    const { parentId } = steps[position]!
    const parent = parentId === null ? undefined : positionOf.get(parentId)
    if (parent === undefined) continue
    if (parent >= position) return undefined
    parents[position] = parent
    depths[position] = Math.min(0xffff, depths[parent]! + 1)
  }
  const treeSizes = sizesOf(parents)
  const treeOrder = new Int32Array(steps.length)
  /** Where the next child of each step goes in `treeOrder`. */
  const nextPlaces = new Int32Array(steps.length)
  let nextTop = 0
  for (let position = 0; position < steps.length; position += 1) {
    const parent = parents[position]!
    const place = parent < 0 ? nextTop : nextPlaces[parent]!
    if (parent < 0) nextTop += treeSizes[position]!
    else nextPlaces[parent]! += treeSizes[position]!
    nextPlaces[position] = place + 1
    treeOrder[place] = position
  }
  return { parents, depths, treeOrder, treeSizes }
}

function sizesOf(parents: Int32Array): Int32Array {
  const sizes = new Int32Array(parents.length).fill(1)
  for (let position = parents.length - 1; position >= 0; position -= 1) {
    const parent = parents[position]!
    if (parent >= 0) sizes[parent]! += sizes[position]!
  }
  return sizes
}

/** Walks the tree without recursion: it can be a chain of a hundred thousand steps. */
function indexTree(steps: readonly Step[], positionOf: ReadonlyMap<string, number>): Tree {
  const tree: Tree = {
    parents: new Int32Array(steps.length).fill(-1),
    depths: new Uint16Array(steps.length),
    treeOrder: new Int32Array(steps.length),
    treeSizes: new Int32Array(steps.length).fill(1),
  }
  const stack: { branch: StepBranch; parent: number }[] = []
  const push = (branches: readonly StepBranch[], parent: number) => {
    for (let index = branches.length - 1; index >= 0; index -= 1)
      stack.push({ branch: branches[index]!, parent })
  }
  push(buildStepTree(steps), -1)
  let walked = 0
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
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

/** The timeline of a session. While the session runs it grows with the clock, even if nothing arrives. */
export function useTimeline({ session, steps }: Session): Timeline {
  const timeline = useMemo(() => createTimeline(session, steps), [session, steps])
  const isRunning = session.endState === 'running'
  const [nowMs, setNowMs] = useState(() => Date.now())
  useEffect(() => {
    if (!isRunning) return
    setNowMs(Date.now())
    const timer = setInterval(() => setNowMs(Date.now()), TICK_MS)
    return () => clearInterval(timer)
  }, [isRunning])
  const untilMs = isRunning ? runningDurationMs(timeline, nowMs) : timeline.durationMs
  return useMemo(
    () => (untilMs === timeline.durationMs ? timeline : { ...timeline, durationMs: untilMs }),
    [timeline, untilMs],
  )
}

/** The sender's clock may differ from ours, so an implausible duration is ignored. */
function runningDurationMs({ session, durationMs }: Timeline, nowMs: number): number {
  const sinceStartMs = nowMs - Date.parse(session.startedAt)
  return sinceStartMs > durationMs && sinceStartMs < durationMs + LOST_AFTER_MS ? sinceStartMs : durationMs
}
