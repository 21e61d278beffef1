import { loadavg } from 'node:os'
import type { Machine } from './machine.ts'
import { isMet, type Target } from './targets.ts'

/** One measured figure, with what was promised of it if anything was. */
export type Figure = { what: string; figure: number; unit: string; target?: Target; note?: string }

export type Report = { suite: string; machine: Machine; figures: Figure[] }

/** A report with what is said of each figure, as it is printed, and as it is kept. */
export type JudgedReport = Omit<Report, 'machine' | 'figures'> & {
  machine: Machine & { loadAfter: number }
  figures: (Figure & { ratio?: number; verdict: string })[]
}

export function judge(report: Report): JudgedReport {
  const machine = { ...report.machine, loadAfter: loadavg()[0]! }
  return {
    ...report,
    machine,
    figures: report.figures.map((row) => {
      const ratio = ratioOf(row)
      return { ...row, ...(ratio !== undefined && { ratio }), verdict: verdictOf(row, isBusy(machine)) }
    }),
  }
}

/** The suites load a machine up to its cores; well beyond that, others do. */
export function isBusy({ loadBefore, cores }: Pick<Machine, 'loadBefore' | 'cores'>): boolean {
  return loadBefore > cores
}

export function printReport(report: Report, isJson: boolean): void {
  const judged = judge(report)
  if (isJson) return console.log(JSON.stringify(judged, undefined, 2))
  console.log(`\n${judged.suite}: ${describe(judged.machine)}\n`)
  console.log(table([columns, ...judged.figures.map(cellsOf)]))
}

export const columns = ['what', 'figure', 'target', 'ratio', 'verdict', '']

export function cellsOf(row: JudgedReport['figures'][number]): string[] {
  const { target, ratio } = row
  return [
    row.what,
    `${show(row.figure)} ${row.unit}`,
    target === undefined ? '' : `${target.isAtLeast === true ? '≥' : '≤'} ${show(target.limit)}`,
    ratio === undefined ? '' : ratio.toFixed(2),
    row.verdict,
    row.note ?? '',
  ]
}

export function describe(machine: JudgedReport['machine']): string {
  return (
    `${machine.cores} × ${machine.processor}, ${machine.memoryGb} GB, ${machine.system}, Node ${machine.node}, ` +
    `load ${machine.loadBefore.toFixed(1)} before and ${machine.loadAfter.toFixed(1)} after, ` +
    `JSON ${Math.round(machine.jsonMbPerSecond)} MB/s, fdatasync ${machine.syncMs.toFixed(2)} ms, ${machine.date}`
  )
}

/** How often the target the figure is; undefined where there is none, or it is zero. */
function ratioOf({ target, figure }: Figure): number | undefined {
  return target === undefined || target.limit === 0 || Number.isNaN(figure)
    ? undefined
    : figure / target.limit
}

const speeds = new Set(['ms', 'µs', 'spans/s', 'per second'])

/** On a busy machine a speed that is missed says nothing; sizes and counts say the same as ever. */
function verdictOf({ target, figure, unit }: Figure, isMachineBusy: boolean): string {
  if (target === undefined) return ''
  if (Number.isNaN(figure)) return 'not measured'
  if (isMet(target, figure)) return 'met'
  return isMachineBusy && speeds.has(unit) ? 'open: machine busy' : 'MISSED'
}

function show(value: number): string {
  if (Number.isNaN(value)) return '-'
  if (Math.abs(value) >= 100 || Number.isInteger(value)) return Math.round(value).toLocaleString('en-US')
  return value.toFixed(Math.abs(value) < 10 ? 2 : 1)
}

function table(rows: string[][]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  const isNumber = (column: number) => column >= 1 && column <= 3
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
