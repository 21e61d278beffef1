import type { Step } from '../session/step.ts'
import { compareReplies, comparePrompts } from './compare-model-calls.ts'
import { compareValues, type ValueDifference } from './compare-values.ts'
import type { Comparison } from './comparison.ts'
import type { Difference } from './difference.ts'
import { isSameInOtherWords } from './text-shape.ts'
import { hasFailed } from '../session/failure.ts'
import { stepInput, stepResult } from '../session/step-input-output.ts'

export type StepComparison = {
  comparison: Comparison
  /** False when only previews are known. */
  hasPayloads: boolean
  /** True before any step has a result: a difference then comes from outside. */
  isBeginning: boolean
}

const MAX_DIFFERENCES = 8

/** Compares the inputs of a step in both sessions. */
export function compareInputs(a: Step, b: Step, context: StepComparison): Difference[] {
  const { hasPayloads, comparison, isBeginning } = context
  if (a.messages !== undefined && b.messages !== undefined && hasPayloads)
    return comparePrompts(a, b, context)
  const [left, right] = [stepInput(a, hasPayloads), stepInput(b, hasPayloads)]
  // A session that declares its input did nothing else than one that does not.
  if ((left === undefined && declaresInput(b)) || (right === undefined && declaresInput(a))) return []
  const kind = a.kind === 'llm' ? 'prompt' : 'argument'
  return compareValues(left, right, comparison, MAX_DIFFERENCES).map((place) =>
    toDifference(place, { kind, comparison, isBeginning }),
  )
}

function declaresInput({ attributes }: Step): boolean {
  return attributes?.['playhead.session.input'] !== undefined
}

/** Compares the results of a step in both sessions. */
export function compareResults(a: Step, b: Step, context: StepComparison): Difference[] {
  const { hasPayloads, comparison } = context
  const hasMessages = a.messages !== undefined && b.messages !== undefined
  if (hasMessages && hasPayloads && !hasFailed(a) && !hasFailed(b)) return compareReplies(a, b, comparison)
  const [left, right] = [stepResult(a, hasPayloads), stepResult(b, hasPayloads)]
  if (hasFailed(a) !== hasFailed(b)) return [{ kind: 'result', path: 'error', ...sides(left, right) }]
  const kind = a.kind === 'llm' ? 'decision' : 'result'
  return compareValues(left, right, comparison, MAX_DIFFERENCES).map((place) =>
    toDifference(place, { kind, comparison, isBeginning: false }),
  )
}

type DifferenceContext = { kind: Difference['kind']; comparison: Comparison; isBeginning: boolean }

function toDifference({ path, a, b }: ValueDifference, context: DifferenceContext): Difference {
  const { comparison, isBeginning } = context
  const place = path === '' ? {} : { path }
  if (typeof a === 'string' && typeof b === 'string') {
    const [left, right] = [withoutName(a), withoutName(b)]
    const kind = isBeginning ? 'input' : isSameInOtherWords(a, b) ? 'wording' : context.kind
    comparison.remember(left, right)
    return { kind, ...place, ...sides(a, b) }
  }
  const isGivenBoth = isBeginning && a !== undefined && b !== undefined && a !== null && b !== null
  return { kind: isGivenBoth ? 'input' : context.kind, ...place, ...sides(a, b) }
}

/** Previews write arguments as `name=value`. */
function withoutName(text: string): string {
  return text.replace(/^\w+=/, '')
}

export function sides(a: unknown, b: unknown): { a?: unknown; b?: unknown } {
  return { ...(a !== undefined && { a }), ...(b !== undefined && { b }) }
}
