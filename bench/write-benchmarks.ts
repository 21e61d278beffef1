import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gaps } from './gaps.ts'
import { PEERS_NOTE } from './peers/note.ts'
import {
  cellsOf,
  columns,
  comparisonRemarks,
  comparisonTable,
  describe,
  isBusy,
  judge,
  type Comparison,
  type JudgedReport,
  type Report,
} from './report.ts'

const results = fileURLToPath(new URL('./results', import.meta.url))
const page = fileURLToPath(new URL('../docs/benchmarks.md', import.meta.url))

const INTRODUCTION = `# Benchmarks

This page is written by \`npm run bench -- <suite> --write\` from the figures in \`bench/results\`; none is typed by hand. The targets
are promises for two cores with the client on the same machine (\`bench/targets.ts\`). *Ratio* is figure to target: at most 1.00 where
the target is an upper limit, at least 1.00 where it is a lower one. *Load* is the machine's, of the minute before and after a run:
above the number of cores, others were using it too, and times are worse than the machine's own; processor time per span hardly is.
*JSON* and *fdatasync* are a baseline of the same run: what one core parses and writes, and how long the disk takes to be sure.

The corpus is generated from a seed (\`bench/corpus.ts\`): sessions of 20 steps with long prompts, loops of tool calls, nested agents
and errors, about 2.4 KB of protobuf a span. \`npm run bench -- --help\` lists the suites.
`

const BUSY =
  '**Taken while others used the machine**: times and rates are not its own, and a target they miss is open until the suite is run again on a machine that is idle.'

/** Keeps a report in place of the last one of its kind, and writes the page from all that are kept. */
export function writeBenchmarks(report: Report): string {
  mkdirSync(results, { recursive: true })
  const name = report.suite.replaceAll(/[^a-z0-9]+/gi, '-').toLowerCase()
  writeFileSync(join(results, `${name}.json`), `${JSON.stringify(judge(report), undefined, 2)}\n`)
  return renderBenchmarks()
}

/** Writes the page from the figures that are kept, as they are. */
export function renderBenchmarks(): string {
  const reports = readdirSync(results)
    .toSorted()
    .map((file) => JSON.parse(readFileSync(join(results, file), 'utf8')) as JudgedReport)
  writeFileSync(page, [INTRODUCTION, ...reports.map(section)].join('\n'))
  return page
}

function section(report: JudgedReport): string {
  return [
    `## ${report.suite}`,
    '',
    describe(report.machine),
    '',
    ...(isBusy(report.machine) ? [BUSY, ''] : []),
    ...(report.figures.length > 0 ? figuresPart(report.figures) : []),
    ...(report.comparison === undefined ? [] : comparisonPart(report.comparison)),
  ].join('\n')
}

function figuresPart(figures: JudgedReport['figures']): string[] {
  const missed = figures.filter((row) => row.verdict === 'MISSED')
  return [
    `| ${columns.join(' | ')} |`,
    '|---|---:|---:|---:|---|---|',
    ...figures.map((row) => `| ${cellsOf(row).join(' | ')} |`),
    '',
    ...[...Map.groupBy(missed, ({ what }) => reasonOf(what))].map(
      ([reason, rows]) => `- Missed: ${rows.map(({ what }) => `*${what.trim()}*`).join('; ')}. ${reason}`,
    ),
    ...(missed.length > 0 ? [''] : []),
  ]
}

function reasonOf(what: string): string {
  return gaps.find(([name]) => name.test(what))?.[1] ?? 'Not explained yet.'
}

function comparisonPart(comparison: Comparison): string[] {
  const [headings, ...rows] = comparisonTable(comparison)
  return [
    `| ${headings!.join(' | ')} |`,
    `|---|${'---:|'.repeat(headings!.length - 1)}`,
    ...rows.map((cells) => `| ${cells.join(' | ')} |`),
    '',
    ...comparisonRemarks(comparison),
    '',
    PEERS_NOTE,
  ]
}
