import type { AlignedRow } from './align-calls.ts'
import { describeCall, describeExpected, nameOf } from './expected-call.ts'

export type StepDiff = {
  text: string
  /** What the first difference is, in a few words. */
  gist?: string
  /** The step at the first difference; the one before it where a call is missing. */
  stepId?: string
}

export type StepDiffOptions = {
  /** Calls that are not expected are no difference. */
  areOthersAllowed?: boolean
  /** The calls that must be there are; only others are a difference. */
  areMissingAllowed?: boolean
}

const WIDEST_EXPECTED = 44
const WIDEST_ACTUAL = 70
const SHOWN_BEFORE = 8
const SHOWN_AFTER = 14

/** Two columns, expected and actual, with the first difference marked. */
export function renderStepDiff(rows: readonly AlignedRow[], options: StepDiffOptions = {}): StepDiff {
  const first = rows.findIndex((row) => isDifference(row, options))
  const lines = rows.map((row, index) => toLine(row, index === first, options))
  const width = Math.min(WIDEST_EXPECTED, Math.max(8, ...lines.map(({ expected }) => expected.length)))
  const [from, to] =
    first === -1 ? [0, SHOWN_BEFORE + SHOWN_AFTER] : [first - SHOWN_BEFORE, first + SHOWN_AFTER]
  const shown = lines
    .slice(Math.max(0, from), to)
    .flatMap(({ marker, expected, sign, actual, detail }) => [
      `${marker} ${cut(expected, WIDEST_EXPECTED).padEnd(width)} ${sign} ${cut(actual, WIDEST_ACTUAL)}`.trimEnd(),
      ...(detail === undefined ? [] : [`  ${' '.repeat(width)}   ${detail}`]),
    ])
  const text = [
    `  ${'expected'.padEnd(width)}   actual`,
    ...(from > 0 ? [`  … ${from} more`] : []),
    ...shown,
    ...(to < lines.length ? [`  … ${lines.length - to} more`] : []),
  ].join('\n')
  const stepId = first === -1 ? undefined : stepAt(rows, first)
  const gist = first === -1 ? undefined : gistOf(rows[first]!)
  return { text, ...(gist !== undefined && { gist }), ...(stepId !== undefined && { stepId }) }
}

function gistOf({ expected, call, mismatch }: AlignedRow): string {
  if (call === undefined) return `${nameOf(expected!)} is missing`
  if (expected === undefined) return `${call.name} was not expected`
  return mismatch === undefined
    ? `${call.name} did not do what it should`
    : `${call.name} had other arguments`
}

function isDifference(row: AlignedRow, { areOthersAllowed, areMissingAllowed }: StepDiffOptions): boolean {
  if (row.isDifferent === true) return true
  if (row.call === undefined) return areMissingAllowed !== true
  return row.expected === undefined && areOthersAllowed !== true
}

type Line = { marker: string; expected: string; sign: string; actual: string; detail?: string }

function toLine(row: AlignedRow, isFirst: boolean, options: StepDiffOptions): Line {
  const { expected, call, isDifferent, mismatch } = row
  const suffix = isFirst ? '   ← first difference' : ''
  return {
    marker: isFirst ? '▶' : ' ',
    expected: expected === undefined ? '' : describeExpected(expected),
    sign: signOf(row, options),
    actual: (call === undefined ? (isFirst ? '–' : '') : cut(describeCall(call), WIDEST_ACTUAL)) + suffix,
    ...(isDifferent === true && {
      detail:
        mismatch === undefined
          ? 'the calls inside it are not as expected'
          : `${mismatch.path === '' ? 'arguments' : mismatch.path}: expected ${mismatch.expected}, got ${mismatch.actual}`,
    }),
  }
}

function signOf({ expected, call, isDifferent }: AlignedRow, options: StepDiffOptions): string {
  if (isDifferent === true) return '≠'
  if (call === undefined) return options.areMissingAllowed === true ? ' ' : '-'
  if (expected === undefined) return options.areOthersAllowed === true ? ' ' : '+'
  return '='
}

function stepAt(rows: readonly AlignedRow[], index: number): string | undefined {
  const here = rows[index]!.call ?? rows.slice(0, index).findLast(({ call }) => call !== undefined)?.call
  return (here ?? rows.find(({ call }) => call !== undefined)?.call)?.step.id
}

function cut(text: string, width: number): string {
  const characters = Array.from(text)
  // What marks the first difference stands after what may be cut.
  return characters.length <= width || text.includes('←')
    ? text
    : `${characters.slice(0, width - 1).join('')}…`
}
