import {
  describeEndState,
  formatCost,
  formatPercent,
  shortSessionId,
  wilson,
  type Budget,
  type Tries,
} from '@playhead/model'
import type { RerunLine } from '../../rerun/messages.ts'
import { endStateColour } from '../commands/session-table.ts'
import { plainLine } from '../terminal/printable-text.ts'
import { renderTable, type Column } from '../terminal/table.ts'
import type { Painter, Terminal } from '../terminal/terminal.ts'
import { hasResult, notesOf, triesOfLines } from './run-many.ts'

type Row = { line: RerunLine; label: string }

type TableOptions = {
  terminal: Terminal
  budget: Budget | undefined
  /** The title of the labels. */
  title: string
  /** True if some runs are without the change, so that a sum says nothing. */
  hasControl?: boolean
}

/** A pipe has no width. */
const PIPED_WIDTH = 400

/** Many runs: one line each, and how many would pass now. */
export function renderRuns(
  rows: readonly Row[],
  { terminal, budget, title, hasControl = false }: TableOptions,
): string {
  const lines = rows.map(({ line }) => line)
  const { isInteractive, width, paint } = terminal
  const table = renderTable(columnsOf(rows, title, paint), rows, {
    paint,
    width: isInteractive ? width : PIPED_WIDTH,
  })
  const passed = hasControl ? [] : [describePassed(lines)]
  return [table, '', ...passed, ...describeCosts(lines, budget)].join('\n')
}

function columnsOf(rows: readonly Row[], title: string, paint: Painter): Column<Row>[] {
  const isOfOne = rows.every(({ line }) => line.parent === rows[0]!.line.parent)
  return [
    ...(isOfOne ? [] : [{ title: 'SESSION', text: ({ line }: Row) => shortSessionId(line.parent) }]),
    {
      title: 'RE-RUN',
      text: ({ line: { session } }) => (session === null ? 'none' : shortSessionId(session)),
      dropOrder: 4,
    },
    { title, text: ({ label }) => plainLine(label), minWidth: 12, dropOrder: 1 },
    { title: 'WAS', text: ({ line }) => describeEndState(line.parentEndState) },
    {
      title: 'NOW',
      text: ({ line }) => describeNow(line),
      paint: (text, { line }) =>
        line.endState === null || !hasResult(line)
          ? paint('dim', text)
          : paint(endStateColour(line.endState), text),
    },
    { title: 'LIVE', text: ({ line }) => String(line.calls.live), align: 'right', dropOrder: 2 },
    { title: 'STUBBED', text: ({ line }) => String(line.calls.stubbed), align: 'right', dropOrder: 3 },
    { title: 'COST', text: ({ line }) => formatCost(line.costUsd), align: 'right' },
    { title: 'FIRST DIVERGENCE', text: ({ line }) => describeFirst(line), minWidth: 24 },
  ]
}

function describeNow(line: RerunLine): string {
  return line.endState === null || !hasResult(line) ? 'no result' : describeEndState(line.endState)
}

function describeFirst(line: RerunLine): string {
  const { divergence, reason } = line
  if (!hasResult(line)) return plainLine(reason ?? '')
  if (divergence === null) return 'none'
  return plainLine(divergence.sentence)
}

function describePassed(lines: readonly RerunLine[]): string {
  const now = triesOfLines(lines)
  if (now.total === 0) return 'No run has a result.'
  const before = lines.filter(hasResult).filter(({ parentEndState }) => parentEndState === 'success').length
  return `${describeTries(now)} would pass now; ${before} passed when they were recorded.`
}

function describeCosts(lines: readonly RerunLine[], budget: Budget | undefined): string[] {
  const costUsd = lines.reduce((sum, line) => sum + line.costUsd, 0)
  return [
    `Cost: ${formatCost(costUsd)}${budget === undefined ? '' : ` of a budget of ${formatCost(budget.limitUsd)}`}.`,
    ...describeWithout(lines.filter((line) => !hasResult(line))),
    ...notesOf(lines).map(plainLine),
  ]
}

function describeWithout(lines: readonly RerunLine[]): string[] {
  const reasons = Map.groupBy(lines, ({ reason = 'nothing was recorded' }) => reason)
  return [...reasons].map(([reason, { length }]) => `${length} without a result: ${plainLine(reason)}`)
}

/** "4 of 5 (80%, between 38% and 96%)" */
export function describeTries({ passed, total }: Tries): string {
  const { low, high } = wilson(passed, total)
  const share = `${formatPercent(passed / total)}, between ${formatPercent(low)} and ${formatPercent(high)}`
  return `${passed} of ${total} (${share})`
}
