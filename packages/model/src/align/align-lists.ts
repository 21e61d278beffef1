import { alignExactly, type Pair, type Scorer } from './align-exactly.ts'

/** The largest table that is filled completely, in about ten milliseconds. */
const MAX_CELLS = 1_500_000

type Part = { left: number; leftEnd: number; right: number; rightEnd: number }

export type Lists = {
  leftCount: number
  rightCount: number
  score: Scorer
  /**
   * Fingerprints of both lists, the most specific first. Fingerprints that are unique on both sides anchor the
   * alignment.
   */
  anchors: readonly { left: readonly number[]; right: readonly number[] }[]
}

/**
 * Aligns two lists with Needleman–Wunsch and affine gaps. Long lists are first cut at items that are unique and equal
 * on both sides, so that the time depends on the differences, not on the product of the lengths.
 */
export function alignLists(lists: Lists): Pair[] {
  const whole: Part = { left: 0, leftEnd: lists.leftCount, right: 0, rightEnd: lists.rightCount }
  return alignPart(whole, lists, 0)
}

function alignPart(part: Part, lists: Lists, level: number): Pair[] {
  const [leftLength, rightLength] = [part.leftEnd - part.left, part.rightEnd - part.right]
  if (leftLength === 0 || rightLength === 0) return []
  const anchor = lists.anchors[level]
  if (leftLength * rightLength <= MAX_CELLS || anchor === undefined) return alignTable(part, lists)
  const { head, inner, tail } = trim(part, anchor)
  const anchors = findAnchors(inner, anchor)
  const pairs: Pair[] = [...head]
  let [left, right] = [inner.left, inner.right]
  for (const [anchorLeft, anchorRight] of [...anchors, [inner.leftEnd, inner.rightEnd] as Pair]) {
    const between = { left, leftEnd: anchorLeft, right, rightEnd: anchorRight }
    for (const pair of alignPart(between, lists, level + 1)) pairs.push(pair)
    if (anchorLeft < inner.leftEnd) pairs.push([anchorLeft, anchorRight])
    left = anchorLeft + 1
    right = anchorRight + 1
  }
  for (const pair of tail) pairs.push(pair)
  return pairs
}

function alignTable({ left, leftEnd, right, rightEnd }: Part, { score }: Lists): Pair[] {
  const pairs = alignExactly({
    leftCount: leftEnd - left,
    rightCount: rightEnd - right,
    score: (leftIndex, rightIndex) => score(left + leftIndex, right + rightIndex),
    mostCells: MAX_CELLS,
  })
  return pairs.map(([leftIndex, rightIndex]): Pair => [left + leftIndex, right + rightIndex])
}

type Anchor = { left: readonly number[]; right: readonly number[] }

/** Splits off the common start and the common end. */
function trim(part: Part, fingerprints: Anchor): { head: Pair[]; inner: Part; tail: Pair[] } {
  let { left, leftEnd, right, rightEnd } = part
  const head: Pair[] = []
  const tail: Pair[] = []
  while (left < leftEnd && right < rightEnd && fingerprints.left[left] === fingerprints.right[right]) {
    head.push([left, right])
    left += 1
    right += 1
  }
  while (
    left < leftEnd &&
    right < rightEnd &&
    fingerprints.left[leftEnd - 1] === fingerprints.right[rightEnd - 1]
  ) {
    leftEnd -= 1
    rightEnd -= 1
    tail.push([leftEnd, rightEnd])
  }
  return { head, inner: { left, leftEnd, right, rightEnd }, tail: tail.toReversed() }
}

/** The longest series of fingerprints that are unique on each side and in the same order on both. */
function findAnchors({ left, leftEnd, right, rightEnd }: Part, fingerprints: Anchor): Pair[] {
  const onLeft = uniquePositions(fingerprints.left, left, leftEnd)
  const onRight = uniquePositions(fingerprints.right, right, rightEnd)
  const pairs: Pair[] = []
  for (const [fingerprint, position] of onLeft) {
    const other = onRight.get(fingerprint)
    if (position >= 0 && other !== undefined && other >= 0) pairs.push([position, other])
  }
  return longestRising(pairs.toSorted(([one], [other]) => one - other))
}

function uniquePositions(fingerprints: readonly number[], start: number, end: number): Map<number, number> {
  const positions = new Map<number, number>()
  for (let position = start; position < end; position += 1) {
    const fingerprint = fingerprints[position]!
    positions.set(fingerprint, positions.has(fingerprint) ? -1 : position)
  }
  return positions
}

/** The longest subsequence of the pairs that is ascending on the right too. */
function longestRising(pairs: readonly Pair[]): Pair[] {
  const ends: number[] = []
  const before = new Int32Array(pairs.length)
  for (let index = 0; index < pairs.length; index += 1) {
    const length = countBelow(ends, pairs, pairs[index]![1])
    before[index] = length === 0 ? -1 : ends[length - 1]!
    ends[length] = index
  }
  const rising: Pair[] = []
  for (let index = ends.at(-1) ?? -1; index >= 0; index = before[index]!) rising.push(pairs[index]!)
  return rising.toReversed()
}

/** Binary search: how many chains end below the value. */
function countBelow(ends: readonly number[], pairs: readonly Pair[], value: number): number {
  let [low, high] = [0, ends.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (pairs[ends[middle]!]![1] < value) low = middle + 1
    else high = middle
  }
  return low
}
