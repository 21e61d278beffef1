import type { Timeline } from '../playback/timeline.ts'

/** One line of the step list: a step, or steps of one name in a row that are folded into one line. */
export type StepRow = {
  type: 'step' | 'repeat'
  /** The step, or the first of the repeated ones. */
  position: number
  depth: number
  /** Undefined when there is nothing to fold. */
  isOpen: boolean | undefined
  /** Of repeated steps: all of them. */
  members?: readonly number[]
}

export type StepRows = {
  rows: readonly StepRow[]
  /** The row that shows each step: its own, or that of the fold it is hidden in; -1 when it is filtered out. */
  rowOf: Int32Array
  hiddenCount: number
}

export type Folding = {
  /** Steps whose children are hidden. */
  folded: ReadonlySet<string>
  /** Repeats that are shown one by one, by the first step's id. */
  openRepeats: ReadonlySet<string>
}

export type RowFilter = {
  /** 1 for each step that is shown; null: all. */
  shown: Uint8Array | null
}

const LEAST_REPEATS = 3
/** In a short session every model call deserves its own line. */
const SHORT_SESSION = 40

type Frame = { index: number; end: number; depth: number; isInRepeat: boolean }

/** The lines of the list, in the order of the tree. */
export function listRows(timeline: Timeline, folding: Folding, { shown }: RowFilter): StepRows {
  const list = { rows: [] as StepRow[], rowOf: new Int32Array(timeline.steps.length).fill(-1) }
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

type Building = { rows: StepRow[]; rowOf: Int32Array }

function addStep(timeline: Timeline, frame: Frame, { folded }: Folding, list: Building): Frame | undefined {
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
  list: Building,
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

function markRows({ treeOrder }: Timeline, { rows, rowOf }: Building, start: number, end: number): void {
  for (let index = start; index < end; index += 1) rowOf[treeOrder[index]!] = rows.length - 1
}

/** Siblings of one kind and name from here on. */
function findRepeat(timeline: Timeline, { index, end }: Frame): Repeat | undefined {
  const { treeOrder, treeSizes, steps } = timeline
  const first = steps[treeOrder[index]!]!
  if (first.kind === 'agent' || (first.kind === 'llm' && steps.length < SHORT_SESSION)) return undefined
  const members: number[] = []
  let at = index
  while (at < end) {
    const position = treeOrder[at]!
    const step = steps[position]!
    if (step.kind !== first.kind || step.name !== first.name) break
    members.push(position)
    at += treeSizes[position]!
  }
  return members.length >= LEAST_REPEATS ? { members, end: at } : undefined
}

/** What has to be unfolded before a step has a line of its own. */
export function reveal(timeline: Timeline, folding: Folding, stepId: string): Folding {
  const position = timeline.positionOf.get(stepId)
  if (position === undefined) return folding
  const folded = new Set(folding.folded)
  const openRepeats = new Set(folding.openRepeats)
  for (let above = timeline.parents[position]!; above >= 0; above = timeline.parents[above]!)
    folded.delete(timeline.steps[above]!.id)
  // Each repeat that is opened may uncover another inside it.
  for (let round = 0; round < 64; round += 1) {
    const { rows, rowOf } = listRows(timeline, { folded, openRepeats }, { shown: null })
    const row = rows[rowOf[position]!]
    if (row === undefined || row.type === 'step') break
    openRepeats.add(timeline.steps[row.position]!.id)
  }
  return { folded, openRepeats }
}
