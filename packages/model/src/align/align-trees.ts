import { pairSiblings, type Pairing, type Sibling } from './pair-siblings.ts'
import type { FingerprintedSession, FingerprintedStep } from './fingerprint-session.ts'

/** A step of one or both sessions, with the steps below it. */
export type AlignedStep = {
  a?: FingerprintedStep
  b?: FingerprintedStep
  /** Only one session has it, and it repeats the step right before or after. */
  isRepeat?: boolean
  /** Only one session has this level; the steps below it follow as siblings. */
  isOpened?: boolean
  /** It ran in parallel with others and started in another order. */
  isReordered?: boolean
  children: AlignedStep[]
}

/** Pairs the steps of two sessions, level by level. */
export function alignTrees(a: FingerprintedSession, b: FingerprintedSession): AlignedStep[] {
  const isUnknown = (session: FingerprintedSession) => (step: FingerprintedStep) =>
    step.isWrapper && step.children.length > 0 && !session.identities.has(step.identity)
  const open = { left: isUnknown(b), right: isUnknown(a) }
  const [left, right] = [a.top[0], b.top[0]]
  const isOneRoot = a.top.length === 1 && b.top.length === 1
  if (isOneRoot && left!.isWrapper && right!.isWrapper && left!.step.kind === right!.step.kind)
    return [{ a: left!, b: right!, children: alignSiblings(left!.children, right!.children, open) }]
  return alignSiblings(a.top, b.top, open)
}

type Opening = { left: (step: FingerprintedStep) => boolean; right: (step: FingerprintedStep) => boolean }

function alignSiblings(
  a: readonly FingerprintedStep[],
  b: readonly FingerprintedStep[],
  open: Opening,
): AlignedStep[] {
  const left = openLevels(a, open.left)
  const right = openLevels(b, open.right)
  const pairing = isSameList(left, right) ? straightPairing(left.length) : pairSiblings(left, right)
  const repeats = {
    left: findRepeats(left, pairing.rightOf),
    right: findRepeats(right, pairing.leftOf),
  }
  const rows: AlignedStep[] = []
  const passed = findPassed(pairing)
  const addPair = (one: number, other: number) => {
    const [a, b] = [left[one]!.fingerprinted, right[other]!.fingerprinted]
    const children = alignSiblings(a.children, b.children, open)
    rows.push({ a, b, ...(passed[one] === 1 && { isReordered: true }), children })
  }
  const addRight = (other: number) => {
    if (pairing.leftOf[other]! < 0) rows.push(aloneStep('b', right[other]!, repeats.right[other] === 1))
  }
  let other = 0
  for (let one = 0; one < left.length; one += 1) {
    const partner = pairing.rightOf[one]!
    if (partner < 0) rows.push(aloneStep('a', left[one]!, repeats.left[one] === 1))
    else {
      if (pairing.isReordered[one] === 0) for (; other < partner; other += 1) addRight(other)
      addPair(one, partner)
    }
  }
  for (; other < right.length; other += 1) addRight(other)
  return rows
}

function isSameList(left: readonly Sibling[], right: readonly Sibling[]): boolean {
  return (
    left.length === right.length &&
    left.every(({ fingerprinted }, index) => fingerprinted.whole === right[index]!.fingerprinted.whole)
  )
}

function straightPairing(length: number): Pairing {
  const partners = Int32Array.from({ length }, (_, index) => index)
  return { rightOf: partners, leftOf: partners, isReordered: new Uint8Array(length) }
}

/** Puts the children of levels that the other session lacks next to them, as siblings. */
function openLevels(
  steps: readonly FingerprintedStep[],
  isUnknown: (step: FingerprintedStep) => boolean,
): Sibling[] {
  return steps.flatMap((fingerprinted): Sibling[] =>
    isUnknown(fingerprinted)
      ? [{ fingerprinted, isOpened: true }, ...openLevels(fingerprinted.children, isUnknown)]
      : [{ fingerprinted, isOpened: false }],
  )
}

function aloneStep(side: 'a' | 'b', { fingerprinted, isOpened }: Sibling, isRepeat: boolean): AlignedStep {
  const alone = (step: FingerprintedStep): AlignedStep => ({
    [side]: step,
    ...(isRepeat && { isRepeat }),
    children: step.children.map(alone),
  })
  return isOpened ? { [side]: fingerprinted, isOpened, children: [] } : alone(fingerprinted)
}

/** 1 for each step on the left whose partner is out of order. */
function findPassed({ rightOf, isReordered }: Pairing): Uint8Array {
  const passed = new Uint8Array(rightOf.length)
  let farthest = -1
  for (let one = 0; one < rightOf.length; one += 1) {
    const other = rightOf[one]!
    if (other < 0) continue
    if (other < farthest) passed[one] = 1
    else farthest = isReordered[one] === 1 ? farthest : other
  }
  let nearest = Infinity
  for (let one = rightOf.length - 1; one >= 0; one -= 1) {
    const other = rightOf[one]!
    if (other < 0) continue
    if (other > nearest) passed[one] = isReordered[one]! | passed[one]!
    else nearest = other
  }
  return passed
}

const LONGEST_PERIOD = 4

/** 1 for each unpaired step that only repeats its neighbour; a write never counts as a repeat. */
function findRepeats(list: readonly Sibling[], partners: Int32Array): Uint8Array {
  const repeats = new Uint8Array(list.length)
  for (let start = 0; start < list.length; start += 1) {
    if (partners[start]! >= 0) continue
    let end = start
    while (end < list.length && partners[end]! < 0) end += 1
    if (isRound(list, start, end)) repeats.fill(1, start, end)
    start = end
  }
  return repeats
}

function isRound(list: readonly Sibling[], start: number, end: number): boolean {
  const alone = list.slice(start, end)
  if (alone.some(({ fingerprinted, isOpened }) => isOpened || fingerprinted.hasWrite)) return false
  for (let period = 1; period <= LONGEST_PERIOD; period += 1) {
    if (alone.length % period !== 0) continue
    const isSameAs = (distance: number) =>
      alone.every(
        ({ fingerprinted }, index) =>
          list[start + index + distance]?.fingerprinted.whole === fingerprinted.whole,
      )
    if (isSameAs(-period) || isSameAs(period)) return true
  }
  return false
}
