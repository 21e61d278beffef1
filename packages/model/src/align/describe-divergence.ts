import { describeEndState, type EndState } from '../session/end-state.ts'
import { describeValue, visibleText } from '../format/visible-text.ts'
import { stepName } from '../session/step.ts'
import type { AlignedRow, Alignment, Divergence } from './align-sessions.ts'
import type { Difference } from './difference.ts'

const VALUE_WIDTH = 60

/**
 * Describes the first divergence in one line: `step 3 fetch_customer_data, argument customer_id null instead of
 * "c_42"`. Undefined when nothing differs.
 */
export function describeFirstDivergence({ divergence, rows }: Alignment): string | undefined {
  if (divergence === null) return undefined
  const row = divergence.row === undefined ? undefined : rows[divergence.row]
  if (row === undefined) return describeEnds(divergence)
  return `${nameRow(row)}${describeDifference(divergence, row)}`
}

function describeEnds({ a, b }: Divergence): string {
  const word = (state: unknown) => describeEndState(state as EndState)
  return `same steps, but the end state is ${word(b)} instead of ${word(a)}`
}

/** Uses the number in the second session, or in the first if the second lacks the step. */
function nameRow({ a, b, aNumber, bNumber }: AlignedRow): string {
  return `step ${bNumber ?? aNumber} ${visibleText(stepName(b ?? a!))}`
}

/** Describes one difference, to be appended to the name of its step. */
export function describeDifference(difference: Difference, row: AlignedRow): string {
  const { kind, path, a, b } = difference
  const at = path === undefined ? '' : ` ${visibleText(path)}`
  switch (kind) {
    case 'decision':
      return `, the model ${path === 'tool calls' ? 'called' : `replied${at}`} ${insteadOf(a, b)}`
    case 'prompt':
      return `, the prompt differs:${at} ${insteadOf(...differingParts(a, b))}`
    case 'argument':
      return `, argument${at} ${insteadOf(a, b)}`
    case 'result':
      return path === 'error' ? describeFailure(a, b) : `, returned${at} ${insteadOf(a, b)}`
    case 'input':
      return `, got another input:${at} ${insteadOf(a, b)}`
    case 'wording':
      return ', different wording'
    case 'repeat':
      return ' again'
    case 'nesting':
      return ', nested differently'
    case 'other-step':
      return row.b === undefined
        ? ` did not run; ${visibleText(String(b))} ran instead`
        : ` instead of ${visibleText(String(a))}`
    case 'missing-step':
      return ' is missing'
    case 'extra-step':
      return ' is extra'
    case 'missing-effect':
      return ' (a write) is missing'
    case 'added-effect':
      return ' (a write) is extra'
    case 'end-state':
      return describeEnds(difference)
  }
}

function insteadOf(a: unknown, b: unknown): string {
  if (b === undefined) return `missing, was ${show(a)}`
  if (a === undefined) return `${show(b)} added`
  return `${show(b)} instead of ${show(a)}`
}

function show(value: unknown): string {
  if (isCalls(value))
    return value.length === 0
      ? 'no tool'
      : value
          .map(
            ({ name, arguments: given }) =>
              `${visibleText(name)}(${describeValue(given ?? '', VALUE_WIDTH)})`,
          )
          .join(', ')
  return describeValue(value, VALUE_WIDTH)
}

function isCalls(value: unknown): value is { name: string; arguments: unknown }[] {
  return (
    Array.isArray(value) &&
    value.every((call) => typeof call === 'object' && call !== null && 'name' in call && 'arguments' in call)
  )
}

function describeFailure(a: unknown, b: unknown): string {
  const [before, now] = [errorText(a), errorText(b)]
  if (now === undefined)
    return b === undefined
      ? `, did not fail with ${before}`
      : `, returned ${show(b)} instead of failing with ${before}`
  return a === undefined ? `, failed with ${now}` : `, failed with ${now} instead of returning ${show(a)}`
}

function errorText(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || !('error' in value)) return undefined
  const { type, message } = value.error as { type?: string; message?: string }
  return visibleText(
    [type, message].filter((part) => part !== undefined && part !== '').join(': ') || 'an error',
  )
}

/** Cuts long texts to start shortly before they differ. */
function differingParts(a: unknown, b: unknown): [a: unknown, b: unknown] {
  if (typeof a !== 'string' || typeof b !== 'string') return [a, b]
  let start = 0
  while (start < a.length && a[start] === b[start]) start += 1
  const wordStart = Math.max(0, a.lastIndexOf(' ', Math.max(0, start - 12)))
  if (wordStart === 0) return [a, b]
  return [`…${a.slice(wordStart)}`, `…${b.slice(wordStart)}`]
}
