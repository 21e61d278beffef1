import { loadavg } from 'node:os'
import type { Machine } from './machine.ts'
import { isMet, type Target } from './targets.ts'

/** One measured figure, and its target if it has one. */
export type Figure = { what: string; figure: number; unit: string; target?: Target; note?: string }

/** Several contenders side by side. The first is the reference for the others. */
export type Comparison = {
  contenders: { name: string; acknowledgement: string; version?: string; missing?: string }[]
  rows: { what: string; unit: string; cells: ({ figure: number } | { none: string; why?: string })[] }[]
}

export type Report = { suite: string; machine: Machine; figures: Figure[]; comparison?: Comparison }

/** A report with a verdict on each figure, as it is printed and saved. */
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

/** Before a suite runs, a load above the number of cores comes from other programs. */
export function isBusy({ loadBefore, cores }: Pick<Machine, 'loadBefore' | 'cores'>): boolean {
  return loadBefore > cores
}

export function printReport(report: Report, isJson: boolean): void {
  const judged = judge(report)
  if (isJson) return console.log(JSON.stringify(judged, undefined, 2))
  console.log(`\n${judged.suite}: ${describe(judged.machine)}\n`)
  if (judged.figures.length > 0) console.log(table([columns, ...judged.figures.map(cellsOf)]))
  const { comparison } = judged
  if (comparison === undefined) return
  console.log(table(comparisonTable(comparison)))
  console.log(`\n${comparisonRemarks(comparison).join('\n')}`)
}

/** The headings, then the rows. Each figure is followed by its ratio to the first contender's. */
export function comparisonTable({ contenders, rows }: Comparison): string[][] {
  const headings = contenders.map(({ name, version }) =>
    version === undefined ? name : `${name} ${version}`,
  )
  return [
    ['Metric', ...headings],
    ...rows.map(({ what, unit, cells }) => [
      what,
      ...cells.map((cell, column) => {
        if ('none' in cell) return cell.none
        const first = column === 0 ? undefined : cells[0]
        const ratio =
          first !== undefined && 'figure' in first && first.figure !== 0
            ? cell.figure / first.figure
            : undefined
        return `${withUnit(cell.figure, unit)}${ratio === undefined ? '' : ` (${show(ratio)}×)`}`
      }),
    ]),
  ]
}

/** What each contender's acknowledgement means, which contenders are missing, and why figures are missing. */
export function comparisonRemarks({ contenders, rows }: Comparison): string[] {
  const reasons = contenders.flatMap(({ name }, column) => {
    const unsupported = rows.flatMap(({ what, cells }) => {
      const cell = cells[column]!
      return 'why' in cell && cell.why !== undefined
        ? [[cell.why, what.replace(/(?:, p\d+|: [\w ]+)$/, '')]]
        : []
    })
    const byReason = Map.groupBy(unsupported, ([why]) => why!)
    return [...byReason].map(
      ([why, entries]) =>
        `- ${name} does not support: ${[...new Set(entries.map(([, what]) => what))].join('; ')}. Reason: ${why}.`,
    )
  })
  return [
    ...contenders.map(({ name, acknowledgement, missing }) =>
      missing === undefined
        ? `- ${name} acknowledges a span once it is ${acknowledgement}.`
        : `- ${name} is missing: ${missing}.`,
    ),
    ...reasons,
  ]
}

export const columns = ['Metric', 'Result', 'Target', 'Ratio', 'Verdict', 'Note']

export function cellsOf(row: JudgedReport['figures'][number]): string[] {
  const { target, ratio } = row
  return [
    row.what,
    withUnit(row.figure, row.unit),
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

/** The figure divided by its target; undefined without a target, or if it is zero. */
function ratioOf({ target, figure }: Figure): number | undefined {
  return target === undefined || target.limit === 0 || Number.isNaN(figure)
    ? undefined
    : figure / target.limit
}

const speeds = new Set(['ms', 'µs', 'spans/s', 'per second'])

/** On a busy machine a missed speed means nothing, but sizes and counts do. */
function verdictOf({ target, figure, unit }: Figure, isMachineBusy: boolean): string {
  if (target === undefined) return ''
  if (Number.isNaN(figure)) return 'not measured'
  if (isMet(target, figure)) return 'met'
  return isMachineBusy && speeds.has(unit) ? 'open: machine busy' : 'MISSED'
}

function withUnit(value: number, unit: string): string {
  if (unit === '' || unit === '%' || unit === '×') return `${show(value)}${unit}`
  return `${show(value)} ${unit}`
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
