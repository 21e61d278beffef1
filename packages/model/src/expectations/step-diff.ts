import type { Call } from './calls.ts'
import {
  describeCall,
  describeExpected,
  flattenCalls,
  isNamed,
  mismatchOf,
  nameOf,
  type AgentCall,
  type ExpectedCall,
  type ToolCall,
} from './expected-call.ts'
import type { Mismatch } from './match-arguments.ts'
import { matchesCall } from './match-calls.ts'

export type StepDiff = {
  text: string
  /** A few words on the first difference. */
  gist?: string
  /** The step at the first difference, or before it if a call is missing. */
  stepId?: string
}

export type StepDiffOptions = {
  /** Unexpected calls are not a difference. */
  areOthersAllowed?: boolean
  /** Missing calls are not a difference. */
  areMissingAllowed?: boolean
}

const WIDEST_EXPECTED = 44
const WIDEST_ACTUAL = 70
const SHOWN_BEFORE = 8
const SHOWN_AFTER = 14

/** Renders expected and actual calls in two columns and marks the first difference. */
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
  if (expected === undefined) return `unexpected call of ${call.name}`
  return mismatch === undefined
    ? `different calls inside ${call.name}`
    : `${call.name} has different arguments`
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
          ? 'the calls inside it differ'
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
  // Keep the marker of the first difference, which comes last.
  return characters.length <= width || text.includes('←')
    ? text
    : `${characters.slice(0, width - 1).join('')}…`
}

/** One row of the diff: an expected call, an actual call, or both. */
type AlignedRow = {
  expected?: string | ToolCall | AgentCall
  call?: Call
  /** Same action, but different arguments or inner calls. */
  isDifferent?: boolean
  mismatch?: Mismatch
}

const GAP = 2
const DIFFERENT = 1
const NEVER = Number.POSITIVE_INFINITY

/** Pairs expected with actual calls so that as few as possible stay unpaired. */
export function alignCalls(expected: readonly ExpectedCall[], calls: readonly Call[]): AlignedRow[] {
  const wanted = flattenCalls(expected)
  const price = (row: number, column: number) => {
    const [one, call] = [wanted[row]!, calls[column]!]
    if (matchesCall(call, one)) return 0
    return isNamed(call, one) ? DIFFERENT : NEVER
  }
  const costs = fillCosts(wanted.length, calls.length, price)
  const rows: AlignedRow[] = []
  let [row, column] = [0, 0]
  while (row < wanted.length || column < calls.length) {
    const [one, call] = [wanted[row], calls[column]]
    const here = costs[row]![column]!
    const isPair = one !== undefined && call !== undefined
    if (isPair && here === costs[row + 1]![column + 1]! + price(row, column)) {
      rows.push(toPair(one, call))
      row += 1
      column += 1
    } else if (one !== undefined && here === costs[row + 1]![column]! + GAP) {
      rows.push({ expected: one })
      row += 1
    } else {
      rows.push({ call: call! })
      column += 1
    }
  }
  return rows
}

/** `costs[row][column]` is the cost of aligning everything from there on. */
function fillCosts(
  rows: number,
  columns: number,
  price: (row: number, column: number) => number,
): number[][] {
  const costs = Array.from({ length: rows + 1 }, () => Array.from({ length: columns + 1 }, () => 0))
  for (let row = rows; row >= 0; row -= 1)
    for (let column = columns; column >= 0; column -= 1) {
      if (row === rows || column === columns) {
        costs[row]![column] = GAP * (rows - row + columns - column)
        continue
      }
      costs[row]![column] = Math.min(
        costs[row + 1]![column + 1]! + price(row, column),
        costs[row + 1]![column]! + GAP,
        costs[row]![column + 1]! + GAP,
      )
    }
  return costs
}

function toPair(expected: string | ToolCall | AgentCall, call: Call): AlignedRow {
  if (matchesCall(call, expected)) return { expected, call }
  const mismatch = mismatchOf(call, expected)
  return { expected, call, isDifferent: true, ...(mismatch !== undefined && { mismatch }) }
}
