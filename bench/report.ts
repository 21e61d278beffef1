import { loadavg } from 'node:os'
import type { Machine } from './machine.ts'
import { isMet, type Target } from './targets.ts'

/** One measured figure, with what was promised of it if anything was. */
export type Figure = { what: string; figure: number; unit: string; target?: Target; note?: string }

export type Report = { suite: string; machine: Machine; figures: Figure[] }

export function printReport(report: Report, isJson: boolean): void {
  const loadAfter = loadavg()[0]!
  if (isJson) {
    const figures = report.figures.map((row) => ({ ...row, verdict: verdictOf(row) }))
    console.log(
      JSON.stringify({ ...report, machine: { ...report.machine, loadAfter }, figures }, undefined, 2),
    )
    return
  }
  const { machine } = report
  console.log(
    `\n${report.suite}: ${machine.cores} × ${machine.processor}, ${machine.memoryGb} GB, ${machine.system}, Node ${machine.node}, ` +
      `load ${machine.loadBefore.toFixed(1)} before and ${loadAfter.toFixed(1)} after, ${machine.date}\n`,
  )
  const rows = report.figures.map((row) => [
    row.what,
    row.target === undefined ? '' : `${row.target.isAtLeast === true ? '≥' : '≤'} ${show(row.target.limit)}`,
    `${show(row.figure)} ${row.unit}`,
    verdictOf(row),
    row.note ?? '',
  ])
  console.log(table([['what', 'target', 'figure', 'verdict', ''], ...rows]))
}

function verdictOf({ target, figure }: Figure): string {
  if (target === undefined) return ''
  if (Number.isNaN(figure)) return 'not measured'
  return isMet(target, figure) ? 'met' : 'MISSED'
}

function show(value: number): string {
  if (Number.isNaN(value)) return '-'
  if (Math.abs(value) >= 100 || Number.isInteger(value)) return Math.round(value).toLocaleString('en-US')
  return value.toFixed(value < 10 ? 2 : 1)
}

function table(rows: string[][]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  const isNumber = (column: number) => column === 1 || column === 2
  const lines = rows.map((row) =>
    row
      .map((cell, column) =>
        isNumber(column) ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!),
      )
      .join('  ')
      .trimEnd(),
  )
  return [lines[0], '-'.repeat(Math.max(...lines.map((line) => line.length))), ...lines.slice(1)].join('\n')
}
