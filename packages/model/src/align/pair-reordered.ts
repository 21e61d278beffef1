import type { FingerprintedStep } from './fingerprint-session.ts'
import type { Pairing, Sibling } from './pair-siblings.ts'

/** Steps that moved further than this are not paired. */
const MAX_DISTANCE = 100

/** Pairs steps that ran in parallel and only started in another order. */
export function pairReordered(left: readonly Sibling[], right: readonly Sibling[], pairing: Pairing): void {
  const lists = { left, right, pairing, expected: expectedPositions(pairing) }
  const freeLeft = positionsOf(left, (one) => isFree(left, right, pairing.rightOf, one))
  const freeRight = positionsOf(right, (other) => isFree(right, left, pairing.leftOf, other))
  if (freeLeft.length === 0 || freeRight.length === 0) return
  for (const isSame of [isSameCallAndResult, isSameCall, isSameStep]) {
    const groups = groupByIdentity(right, freeRight)
    for (const one of freeLeft) {
      if (isSettled(one, lists)) continue
      const other = nearbyOf(groups.get(left[one]!.fingerprinted.identity) ?? [], one, lists.expected).find(
        (candidate) =>
          isSame(left[one]!.fingerprinted, right[candidate]!.fingerprinted) &&
          isOpenTo(candidate, isSame, lists) &&
          canMove(one, candidate, lists),
      )
      if (other !== undefined && pairing.rightOf[one] !== other) pair(one, other, lists)
    }
  }
}

type Lists = {
  left: readonly Sibling[]
  right: readonly Sibling[]
  pairing: Pairing
  /** For each step on the right, the position on the left of the partner of the step before it. */
  expected: Int32Array
}

function expectedPositions({ leftOf }: Pairing): Int32Array {
  const expected = new Int32Array(leftOf.length)
  for (let other = 0, last = 0; other < leftOf.length; other += 1) {
    last = Math.max(last, leftOf[other]!)
    expected[other] = last
  }
  return expected
}

/** The steps of an ascending list on the right that are expected near a position on the left. */
function nearbyOf(group: readonly number[], one: number, expected: Int32Array): number[] {
  let [low, high] = [0, group.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (expected[group[middle]!]! < one - MAX_DISTANCE) low = middle + 1
    else high = middle
  }
  let end = low
  while (end < group.length && expected[group[end]!]! <= one + MAX_DISTANCE) end += 1
  return group.slice(low, end)
}

function positionsOf(list: readonly Sibling[], isWanted: (position: number) => boolean): number[] {
  const positions: number[] = []
  for (let position = 0; position < list.length; position += 1)
    if (isWanted(position)) positions.push(position)
  return positions
}

/** True for a step without partner, or with one that only shares its name. */
function isFree(
  list: readonly Sibling[],
  others: readonly Sibling[],
  partners: Int32Array,
  position: number,
): boolean {
  const partner = partners[position]!
  if (list[position]!.isOpened) return false
  return partner < 0 || others[partner]!.fingerprinted.given !== list[position]!.fingerprinted.given
}

function isSettled(one: number, { left, right, pairing }: Lists): boolean {
  const partner = pairing.rightOf[one]!
  return partner >= 0 && right[partner]!.fingerprinted.given === left[one]!.fingerprinted.given
}

/** True when the other step has no partner, or one that may be replaced by a better match. */
function isOpenTo(other: number, isSame: SameTest, { left, right, pairing }: Lists): boolean {
  const partner = pairing.leftOf[other]!
  if (partner < 0) return true
  return isSame !== isSameStep && left[partner]!.fingerprinted.given !== right[other]!.fingerprinted.given
}

type SameTest = (one: FingerprintedStep, other: FingerprintedStep) => boolean
const isSameCallAndResult: SameTest = (one, other) => one.given === other.given && one.result === other.result
const isSameCall: SameTest = (one, other) => one.given === other.given
const isSameStep: SameTest = () => true

function groupByIdentity(list: readonly Sibling[], positions: readonly number[]): Map<number, number[]> {
  const groups = new Map<number, number[]>()
  for (const position of positions) {
    const { identity } = list[position]!.fingerprinted
    const group = groups.get(identity)
    if (group === undefined) groups.set(identity, [position])
    else group.push(position)
  }
  return groups
}

/** True when every step between the two positions ran in parallel with one of them. */
function canMove(one: number, other: number, { left, right, pairing }: Lists): boolean {
  if (pairing.rightOf[one]! >= 0 && pairing.rightOf[one] === other) return true
  const last = Math.min(left.length - 1, one + MAX_DISTANCE)
  for (let passed = Math.max(0, one - MAX_DISTANCE); passed <= last; passed += 1) {
    const partner = pairing.rightOf[passed]!
    if (passed === one || partner < 0 || partner === other) continue
    const isCrossed = passed < one !== partner < other
    if (!isCrossed) continue
    const isBeside =
      ranTogether(left[one]!.fingerprinted, left[passed]!.fingerprinted) ||
      ranTogether(right[other]!.fingerprinted, right[partner]!.fingerprinted)
    // A pair that could move itself does not block others.
    const isHeld = left[passed]!.fingerprinted.given === right[partner]!.fingerprinted.given
    if (!isBeside && isHeld) return false
  }
  return true
}

function ranTogether(one: FingerprintedStep, other: FingerprintedStep): boolean {
  return one.startMs < other.endMs && other.startMs < one.endMs
}

function pair(one: number, other: number, { pairing }: Lists): void {
  const [oldRight, oldLeft] = [pairing.rightOf[one]!, pairing.leftOf[other]!]
  if (oldRight >= 0) pairing.leftOf[oldRight] = -1
  if (oldLeft >= 0) {
    pairing.rightOf[oldLeft] = -1
    pairing.isReordered[oldLeft] = 0
  }
  pairing.rightOf[one] = other
  pairing.leftOf[other] = one
  pairing.isReordered[one] = 1
}
