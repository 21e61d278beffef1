import type { Timeline } from '../playback/timeline.ts'

/** One row of the list: a step, or consecutive steps of the same name folded into one row. */
export type ListRow = {
  type: 'step' | 'repeat'
  /** The step, or the first of the repeats. */
  position: number
  depth: number
  /** Undefined for a row that can't be folded. */
  isOpen: boolean | undefined
  /** The repeated steps. */
  members?: readonly number[]
}

export type ListRows = {
  rows: readonly ListRow[]
  /** The row that shows each step: its own, or the fold that hides it; -1 when it is filtered out. */
  rowOf: Int32Array
  hiddenCount: number
}

export type Folding = {
  /** Steps whose children are hidden. */
  folded: ReadonlySet<string>
  /** Repeats that are unfolded, by the id of the first step. */
  openRepeats: ReadonlySet<string>
}

export type RowFilter = {
  /** 1 for each step to show; null for all. */
  shown: Uint8Array | null
}

const MIN_REPEATS = 3
/** In a short session every model call gets its own row. */
const SHORT_SESSION = 40

type Frame = { index: number; end: number; depth: number; isInRepeat: boolean }

/** What was listed last: whoever reveals a step lists it next. */
const listed = new WeakMap<Folding, { of: Timeline['treeOrder']; list: ListRows }>()

/** The rows of the list, in tree order. */
export function listRows(timeline: Timeline, folding: Folding, filter: RowFilter): ListRows {
  if (filter.shown !== null) return readRows(timeline, folding, filter)
  const known = listed.get(folding)
  if (known?.of === timeline.treeOrder) return known.list
  const list = readRows(timeline, folding, filter)
  listed.set(folding, { of: timeline.treeOrder, list })
  return list
}

function readRows(timeline: Timeline, folding: Folding, { shown }: RowFilter): ListRows {
  const list = { rows: [] as ListRow[], rowOf: new Int32Array(timeline.steps.length).fill(-1) }
  const stack: Frame[] = [{ index: 0, end: timeline.treeOrder.length, depth: 0, isInRepeat: false }]
  let shownCount = 0
  while (stack.length > 0) {
    const frame = stack.at(-1)!
    if (frame.index >= frame.end) {
      stack.pop()
      continue
    }
    const position = timeline.treeOrder[frame.index]!
    const size = timeline.treeSizes[position]!
    if (shown !== null && shown[position] === 0) {
      frame.index += size
      continue
    }
    const repeat = shown === null && !frame.isInRepeat ? findRepeat(timeline, frame) : undefined
    const next =
      repeat === undefined
        ? addStep(timeline, frame, folding, list)
        : addRepeat(timeline, frame, repeat, folding, list)
    if (next !== undefined) stack.push(next)
  }
  if (shown !== null) for (const isShown of shown) shownCount += isShown
  return { ...list, hiddenCount: shown === null ? 0 : timeline.steps.length - shownCount }
}

type RowsInProgress = { rows: ListRow[]; rowOf: Int32Array }

function addStep(
  timeline: Timeline,
  frame: Frame,
  { folded }: Folding,
  list: RowsInProgress,
): Frame | undefined {
  const start = frame.index
  const position = timeline.treeOrder[start]!
  const size = timeline.treeSizes[position]!
  const isFolded = size > 1 && folded.has(timeline.steps[position]!.id)
  const isOpen = size > 1 ? !isFolded : undefined
  list.rows.push({ type: 'step', position, depth: frame.depth, isOpen })
  markRows(timeline, list, start, isFolded ? start + size : start + 1)
  frame.index += size
  if (size === 1 || isFolded) return undefined
  return { index: start + 1, end: start + size, depth: frame.depth + 1, isInRepeat: false }
}

type Repeat = { members: number[]; end: number }

function addRepeat(
  timeline: Timeline,
  frame: Frame,
  repeat: Repeat,
  { openRepeats }: Folding,
  list: RowsInProgress,
): Frame | undefined {
  const start = frame.index
  const position = repeat.members[0]!
  const isOpen = openRepeats.has(timeline.steps[position]!.id)
  list.rows.push({ type: 'repeat', position, depth: frame.depth, isOpen, members: repeat.members })
  frame.index = repeat.end
  if (!isOpen) {
    markRows(timeline, list, start, repeat.end)
    return undefined
  }
  return { index: start, end: repeat.end, depth: frame.depth + 1, isInRepeat: true }
}

function markRows(
  { treeOrder }: Timeline,
  { rows, rowOf }: RowsInProgress,
  start: number,
  end: number,
): void {
  for (let index = start; index < end; index += 1) rowOf[treeOrder[index]!] = rows.length - 1
}

/** Consecutive siblings of the same kind and name. */
function findRepeat(timeline: Timeline, { index, end }: Frame): Repeat | undefined {
  const { treeOrder, treeSizes, steps } = timeline
  const first = steps[treeOrder[index]!]!
  if (first.kind === 'agent' || (first.kind === 'llm' && steps.length < SHORT_SESSION)) return undefined
  const isAlike = (at: number) => {
    const step = steps[treeOrder[at]!]!
    return step.kind === first.kind && step.name === first.name
  }
  // Most steps are no repeats, so nothing is allocated before it is known.
  let count = 0
  let at = index
  for (; at < end && isAlike(at); at += treeSizes[treeOrder[at]!]!) count += 1
  if (count < MIN_REPEATS) return undefined
  const members: number[] = []
  for (let next = index; next < at; next += treeSizes[treeOrder[next]!]!) members.push(treeOrder[next]!)
  return { members, end: at }
}

/** Unfolds whatever hides a step. */
export function reveal(timeline: Timeline, folding: Folding, stepId: string): Folding {
  const position = timeline.positionOf.get(stepId)
  if (position === undefined) return folding
  const folded = new Set(folding.folded)
  for (let above = timeline.parents[position]!; above >= 0; above = timeline.parents[above]!)
    folded.delete(timeline.steps[above]!.id)
  let revealed: Folding = { folded, openRepeats: new Set(folding.openRepeats) }
  // Unfolding a repeat may reveal another one inside it.
  for (let round = 0; round < 64; round += 1) {
    const { rows, rowOf } = listRows(timeline, revealed, { shown: null })
    const row = rows[rowOf[position]!]
    if (row === undefined || row.type === 'step') break
    const openRepeats = new Set(revealed.openRepeats).add(timeline.steps[row.position]!.id)
    revealed = { folded, openRepeats }
  }
  return revealed
}
