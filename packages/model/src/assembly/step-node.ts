import type { ResolvedStep } from './resolved-step.ts'
import { LAST_TIME_MS, readableTime } from '../session/session-time.ts'
import type { StepOutline } from '../session/step-draft.ts'

/** A step during resolution. Kept small: a session may have a hundred thousand of them. */
export type StepNode = {
  step: ResolvedStep
  parent: StepNode | null
  firstChild: StepNode | null
  nextSibling: StepNode | null
  /** Its position when parents are visited before their children. */
  position: number
  /** Flags about the step and the steps below it. */
  bits: number
  /** The action that it runs in, with only plain code in between. */
  enclosingAction: StepNode | null
  /** The latest errors of this step and below. */
  trails: ErrorTrail[] | null
}

export const LLM_BELOW = 1
/** At least one, and at least two, successful model calls. */
export const SUCCESS_BELOW = 2
export const SUCCESSES_BELOW = 4
export const ACTION_BELOW = 8
export const AI_BELOW = 16
export const USAGE_BELOW = 32
export const COST_BELOW = 64
/** Calls that are not duplicates. */
export const LLM_CALL_BELOW = 128
export const EMBEDDING_CALL_BELOW = 256
/** A step above counts the tokens of everything below. */
export const COUNTED_ABOVE = 512
/** A container that was created afterwards or without times, so that its status says nothing. */
export const BLIND = 1024
/** The last step of this container is an agent that failed. */
export const ENDS_WITH_FAILURE = 4096
/** A step above failed or may have failed. */
export const MAY_FAIL_ABOVE = 2048

/** An error: the step that owns it and the highest step that it reached. */
export type ErrorTrail = { owner: StepNode; top: StepNode }

/** The nodes of a session, earliest first, and by step id. */
export type StepNodes = {
  all: StepNode[]
  byId: ReadonlyMap<string, StepNode>
  /** False when steps start at the same instant or got new times, so that they must be sorted again. */
  isOrderSure: boolean
}

/** One node per step id. Copies the outlines, because resolving changes them. */
export function createNodes(outlines: readonly StepOutline[]): StepNodes {
  const all: StepNode[] = []
  const byId = new Map<string, StepNode>()
  const { sorted, isOrderSure } = sortByStart(outlines, compareIds)
  for (const outline of sorted) {
    const node = createNode(copyStep(outline))
    all.push(node)
    byId.set(outline.id, node)
  }
  if (byId.size < all.length) return createNodes(oneOfEach(outlines))
  return { all, byId, isOrderSure }
}

/** Earliest first, then by id, so that the order of arrival never matters. */
export function byStart(left: StepNode, right: StepNode): number {
  return left.step.startedAtMs - right.step.startedAtMs || compareIds(left.step, right.step)
}

/** The resolved steps, earliest first; with equal starts, parents before children. */
export function inStartOrder({ all, isOrderSure }: StepNodes): ResolvedStep[] {
  const steps = all.map((node) => node.step)
  return isOrderSure ? steps : sortByStart(steps, compareDepths).sorted
}

/** Sorts positions by a table of times, many times faster than reading the steps in each comparison. */
function sortByStart<Outline extends StepOutline>(
  outlines: readonly Outline[],
  compareAtOneInstant: (left: Outline, right: Outline) => number,
): { sorted: Outline[]; isOrderSure: boolean } {
  const starts = new Float64Array(outlines.length)
  let isOrderSure = true
  let previousMs = -1
  let index = 0
  for (const { startedAtMs } of outlines) {
    const startMs = readableTime(startedAtMs)
    starts[index] = startMs
    if (startMs <= previousMs) isOrderSure = false
    previousMs = startMs
    index += 1
  }
  if (isOrderSure) return { sorted: [...outlines], isOrderSure }
  const compare = (left: number, right: number): number =>
    starts[left]! - starts[right]! || compareAtOneInstant(outlines[left]!, outlines[right]!)
  const positions = Uint32Array.from(outlines.keys())
  positions.sort(compare)
  return { sorted: Array.from(positions, (position) => outlines[position]!), isOrderSure }
}

function compareIds(left: StepOutline, right: StepOutline): number {
  if (left.id === right.id) return 0
  return left.id < right.id ? -1 : 1
}

function compareDepths(left: ResolvedStep, right: ResolvedStep): number {
  return left.depth - right.depth || compareRequests(left, right) || compareIds(left, right)
}

/** Tools that one reply asked for at once are in its order; when each of them ran is not known. */
function compareRequests(left: ResolvedStep, right: ResolvedStep): number {
  if (left.isInferred !== true || right.isInferred !== true || left.requestedBy !== right.requestedBy)
    return 0
  return (left.requestIndex ?? 0) - (right.requestIndex ?? 0)
}

export function createNode(step: ResolvedStep): StepNode {
  return {
    step,
    parent: null,
    firstChild: null,
    nextSibling: null,
    position: 0,
    bits: 0,
    enclosingAction: null,
    trails: null,
  }
}

function copyStep(outline: StepOutline): ResolvedStep {
  const step: ResolvedStep = { ...outline, depth: 0 }
  const startMs = readableTime(outline.startedAtMs)
  if (startMs !== outline.startedAtMs) step.startedAtMs = startMs
  const { endedAtMs } = outline
  if (endedAtMs !== null && !(endedAtMs >= startMs && endedAtMs <= LAST_TIME_MS))
    step.endedAtMs = endedAtMs > LAST_TIME_MS ? LAST_TIME_MS : startMs
  return step
}

function oneOfEach(outlines: readonly StepOutline[]): StepOutline[] {
  const chosen = new Map<string, StepOutline>()
  for (const outline of outlines) {
    const other = chosen.get(outline.id)
    chosen.set(outline.id, other === undefined ? outline : moreComplete(other, outline))
  }
  return [...chosen.values()]
}

/**
 * The better of two copies of a step: the one that ended, then the one that ended later, then the one that says more.
 */
function moreComplete(left: StepOutline, right: StepOutline): StepOutline {
  const ended = (left.endedAtMs ?? -1) - (right.endedAtMs ?? -1)
  if (ended > 0) return left
  if (ended < 0) return right
  const leftText = JSON.stringify(left)
  const rightText = JSON.stringify(right)
  if (leftText.length !== rightText.length) return leftText.length > rightText.length ? left : right
  return leftText < rightText ? left : right
}
