import type { Call } from '../sessions/calls.ts'
import {
  flattenCalls,
  isNamed,
  mismatchOf,
  type AgentCall,
  type ExpectedCall,
  type ToolCall,
} from './expected-call.ts'
import { isCall } from './find-trajectory.ts'
import type { Mismatch } from './match-arguments.ts'

/** One row of a comparison: what was expected, what happened, or both. */
export type AlignedRow = {
  expected?: string | ToolCall | AgentCall
  call?: Call
  /** They are the same action, but its arguments, or the calls inside it, are not as expected. */
  isDifferent?: boolean
  mismatch?: Mismatch
}

const GAP = 2
const DIFFERENT = 1
const NEVER = Number.POSITIVE_INFINITY

/** Puts what was expected beside what happened, so that as little as possible stands alone. */
export function alignCalls(expected: readonly ExpectedCall[], calls: readonly Call[]): AlignedRow[] {
  const wanted = flattenCalls(expected)
  const price = (row: number, column: number) => {
    const [one, call] = [wanted[row]!, calls[column]!]
    if (isCall(call, one)) return 0
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

/** `costs[row][column]` is what it takes to align everything from there on. */
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
  if (isCall(call, expected)) return { expected, call }
  const mismatch = mismatchOf(call, expected)
  return { expected, call, isDifferent: true, ...(mismatch !== undefined && { mismatch }) }
}
