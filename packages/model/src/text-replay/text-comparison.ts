import { isDivergent, type AlignedRow, type Alignment } from '../align/align-sessions.ts'
import { describeDifference, describeFirstDivergence } from '../align/describe-divergence.ts'
import type { EffectChange } from '../align/effect-changes.ts'
import { countOf, describeCost } from '../format/format-number.ts'
import { formatDuration } from '../format/format-time.ts'
import { oneLine } from '../format/visible-text.ts'
import { describeMissingUsage } from '../session/calls-without-usage.ts'
import { describeEndState } from '../session/end-state.ts'
import { shortSessionId, type Session } from '../session/session.ts'
import { createPainter, type Painter } from './replay-block.ts'
import { colourOf } from './text-replay.ts'

/** Equal steps shown before and after each difference. */
const CONTEXT = 2
const MAX_ROWS = 200
const MAX_NAME_LENGTH = 400
const plainLine = (text: string) => oneLine(text, MAX_NAME_LENGTH)

/** Renders two aligned sessions as text for a terminal or a coding agent. */
export function renderComparison(
  alignment: Alignment,
  [a, b]: readonly [Session, Session],
  { color = false, width }: { color?: boolean; width: number },
): string {
  const paint = createPainter(color)
  const divergence = describeFirstDivergence(alignment)
  const lines = [
    `A  ${describeSession(a, paint)}`,
    `B  ${describeSession(b, paint)}`,
    '',
    divergence === undefined
      ? paint('green', 'No divergence: both sessions did the same.')
      : `${paint('bold', 'First divergence:')} ${divergence}`,
    ...describeEffects(alignment.effects, paint),
    '',
    ...renderRows(alignment, { paint, width }),
  ]
  return `${lines.join('\n')}\n`
}

function describeSession({ session, steps }: Session, paint: Painter): string {
  const facts = [
    paint('bold', shortSessionId(session.id)),
    paint(colourOf(session.endState), describeEndState(session.endState)),
    session.durationMs === null ? 'running' : formatDuration(session.durationMs),
    describeCost(session.cost, session.unpricedModels.map(plainLine), describeMissingUsage(session)),
    countOf(steps.length, 'step'),
    plainLine(session.inputPreview ?? session.name),
  ]
  return facts.join('  ')
}

function describeEffects(effects: readonly EffectChange[], paint: Painter): string[] {
  if (effects.length === 0) return [`${paint('bold', 'Effects:')} the same`]
  return effects.map(({ kind, a, b, differences }) => {
    const name = plainLine((b ?? a)!.name)
    const [difference] = differences
    const how = difference === undefined ? '' : describeDifference(difference, { depth: 0, differences: [] })
    return paint('red', `Effect ${kind}: ${name}${how}`)
  })
}

function renderRows({ rows, divergence }: Alignment, options: { paint: Painter; width: number }): string[] {
  const lines: string[] = []
  let skipped = 0
  const flush = () => {
    if (skipped > 0) lines.push(options.paint('dim', `      … ${countOf(skipped, 'equal step')}`))
    skipped = 0
  }
  for (const [index, row] of rows.entries()) {
    if (!isShown(rows, index)) {
      skipped += 1
      continue
    }
    flush()
    if (lines.length >= MAX_ROWS) {
      lines.push(
        options.paint('dim', `      … ${countOf(rows.length - index, 'row')} more; use --json to see all`),
      )
      return lines
    }
    lines.push(renderRow(row, { ...options, isFirst: index === divergence?.row }))
  }
  flush()
  return lines
}

function isShown(rows: readonly AlignedRow[], index: number): boolean {
  const from = Math.max(0, index - CONTEXT)
  return rows.slice(from, index + CONTEXT + 1).some(({ differences }) => differences.length > 0)
}

function renderRow(
  row: AlignedRow,
  { paint, width, isFirst }: { paint: Painter; width: number; isFirst: boolean },
): string {
  const mark = row.a === undefined ? '+' : row.b === undefined ? '-' : row.differences.length > 0 ? '~' : ' '
  const number = (count: number | undefined) => String(count ?? '').padStart(5)
  const indent = '  '.repeat(Math.min(row.depth, 10))
  const name = plainLine((row.b ?? row.a)!.name)
  const [difference] = row.differences
  const says = difference === undefined ? '' : describeDifference(difference, row)
  const arrow = isFirst ? '   ← first divergence' : ''
  const room = Math.max(20, width - 16 - arrow.length)
  const text = `${name}${says}`
  const line = `${number(row.aNumber)}${number(row.bNumber)} ${mark} ${indent}${oneLine(text, room - indent.length)}${arrow}`
  if (isFirst) return paint('bold', line)
  return isDivergent(row) ? paint('yellow', line) : difference === undefined ? paint('dim', line) : line
}
