import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
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
} from './harness/report.ts'
import { PEERS_NOTE } from './peers/note.ts'

const results = fileURLToPath(new URL('./results', import.meta.url))
const page = fileURLToPath(new URL('../docs/benchmarks.md', import.meta.url))

const INTRODUCTION = `# Benchmarks

How fast Playhead is on a small machine, how much memory and disk it needs, and how it compares with other tools. To measure it
yourself, run \`npm run bench -- <suite>\`; \`npm run bench -- --help\` lists the suites.
`

const HOW_TO_READ = `## How to read the tables

- \`npm run bench -- <suite> --write\` generates this page from the figures in \`bench/results\`. The tables contain no figure that was
  typed by hand. The explanations of missed targets are written by hand. Where they quote a profile, they say when its figures were
  written down; those figures are approximate, and no suite measures them again.
- *Target* is what we promise on two cores with the client on the same machine (\`bench/harness/targets.ts\`). *Ratio* is the result
  divided by the target: at most 1.00 is good for an upper limit (≤), at least 1.00 for a lower limit (≥).
- *Load* is the load average of the machine before and after the run. If it is higher than the number of cores, other programs were using
  the machine, and times are worse than they would be on an idle one. CPU time per span is hardly affected.
- *JSON* and *fdatasync* are a baseline of the machine, measured in the same run: how fast one core parses and writes JSON, and how long
  the disk takes for a sync.
- The corpus is generated from a seed (\`bench/corpus/corpus.ts\`): sessions of 20 steps with long prompts, loops of tool calls, nested
  agents and errors, about 2.4 KB of protobuf per span.
`

const BUSY =
  '**Measured on a busy machine**: times and rates are worse than on an idle one. Missed targets stay open until the suite runs again on an idle machine.'

/** The figures that most people look for, by suite and metric. */
const headlines: readonly (readonly [suite: string, what: string])[] = [
  ['ingest', 'ingest, protobuf, 60 s'],
  ['ingest', 'acknowledged spans not stored'],
  ['ingest', 'visible after the acknowledgement, idle, p95'],
  ['ingest', 'memory, idle'],
  ['query, 1,000,000 spans', 'open a session of 20 steps, p50'],
  ['query, 1,000,000 spans', 'list 50, unfiltered, p95'],
  ['query, 1,000,000 spans', 'text search, a common word, p95'],
  ['query, 1,000,000 spans', 'stats by day, 30 days, p95'],
  ['storage', '1,000,000 spans: on disk per span, after merges'],
  ['soak, 20 minutes', 'acknowledged spans compared'],
  ['soak, 20 minutes', 'lost'],
  ['dashboard', 'open 100,000 steps'],
  ['sdk', 'recording a step: added CPU time'],
  ['cold-start', 'npm start to first response, second start'],
]

/** Saves a report in place of the last one of its suite, and writes the page from all saved reports. */
export function writeBenchmarks(report: Report): string {
  mkdirSync(results, { recursive: true })
  const name = report.suite.replaceAll(/[^a-z0-9]+/gi, '-').toLowerCase()
  writeFileSync(join(results, `${name}.json`), `${JSON.stringify(judge(report), undefined, 2)}\n`)
  return renderBenchmarks()
}

/** Writes the page from the saved reports, without measuring anything. */
export function renderBenchmarks(): string {
  const reports = readdirSync(results)
    .toSorted()
    .map((file) => JSON.parse(readFileSync(join(results, file), 'utf8')) as JudgedReport)
  writeFileSync(page, [INTRODUCTION, headlineTable(reports), HOW_TO_READ, ...reports.map(section)].join('\n'))
  return page
}

function headlineTable(reports: readonly JudgedReport[]): string {
  const rows = headlines.flatMap(([suite, what]) => {
    const found = reports
      .find((report) => report.suite === suite)
      ?.figures.find((row) => row.what.trim() === what)
    if (found === undefined) return []
    const [, figure, target, , verdict] = cellsOf(found)
    return [`| ${suite} | ${what} | ${figure} | ${target} | ${verdict} |`]
  })
  return ['| Suite | Metric | Result | Target | Verdict |', '|---|---|---:|---:|---|', ...rows, ''].join('\n')
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
    ...[...Map.groupBy(missed, ({ what }) => explain(what))].map(
      ([reason, rows]) => `- Missed: ${rows.map(({ what }) => `*${what.trim()}*`).join('; ')}. ${reason}`,
    ),
    ...(missed.length > 0 ? [''] : []),
  ]
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

function explain(what: string): string {
  const found = explanations.find(({ metric }) => metric.test(what))
  if (found === undefined) return 'Not explained yet.'
  return found.profiled === undefined
    ? found.text
    : `${found.text} (Figures from a profile, written down by hand on ${found.profiled}.)`
}

/** Why targets are missed. `profiled` is when the figures in the text were written down; no suite measures them again. */
const explanations: readonly { metric: RegExp; profiled?: string; text: string }[] = [
  {
    metric: /^AgentRx, tau-retail: within 3 steps/,
    profiled: '2026-11-18',
    text: 'Nine of the 29 labels blame the simulated user, who asked for something else than the task says, and six an assistant that misunderstood the task: nothing in the run contradicts them. What a result contradicts (a count, a state, a record that is not available, one of several that was left out) is found. In the half that nobody read while the rules were written, fewer are right. With 29 runs, the interval still includes the target.',
  },
  {
    metric: /memory, idle/,
    profiled: '2026-11-15',
    text: "Most of it is code: the engine maps ClickHouse's library and touches about 200 MB of it, which the kernel can drop. The memory that it can't drop is about 75 MB for each of the two processes (`RssAnon` in /proc/<pid>/status).",
  },
  {
    metric: /on disk per span/,
    text: 'Two fifths are the original attributes, a third is the text index, and a fifth are the previews of input and output (see the rows below). Without the previews, which could be computed on read, it would be within the target, but opening a session would then have to read its payloads.',
  },
  {
    metric: /memory at .* peak/,
    text: 'The rate is higher than two cores can handle (see below), so requests and rows queue in memory.',
  },
  {
    metric: /^ingest, |acknowledge at 20k|visible after the acknowledgement, at 30k/,
    profiled: '2026-11-15',
    text: "The limit is CPU time: client, server and engine share two cores, and a span needs more of them than the target leaves. A profile of the server's main thread shows no single cause. Per span of 2.4 KB, it spends about 22 µs on reading the dialect and its messages, 8 µs on writing the row's JSON, 7 µs on Native encoding, 7 µs on protobuf decoding, 4 µs on live updates, and 9 µs on garbage collection. The engine adds the cost of indexes and merges. On machines with more cores, worker threads would help.",
  },
  {
    metric: /^open a session|^list 50|^text search/,
    profiled: '2026-11-16',
    text: "A statement costs the engine 3 ms of CPU time, plus 0.3 ms for each column, however many rows it reads: 24 columns for a session's outlines, 16 for its payloads (read in parallel), and 31 for a page of a list. In a profile, 54% of the samples are analysis and planning, and 29% are reading. ClickHouse's client adds a millisecond, because it waits for a timer before every request. If a list finds less than a page of sessions in the last day, it reads 14 days, and then everything; when a query is repeated, as in this suite, it starts with the window that was large enough the last time. A rare word is looked up in the index of every part of the store.",
  },
  {
    metric: /^drag: frame/,
    profiled: '2026-11-15',
    text: "When the list scrolls, a frame keeps the page's main thread busy for about 15 ms (in a trace: 7.5 ms of script that renders the rows, 5 ms of layout, 2.5 ms of painting), which leaves little of the 16.7 ms. The browser of the benchmark has no GPU, so it rasterizes and composites on the same two cores that the server and the measurement use.",
  },
  {
    metric: /open 100,000 steps/,
    profiled: '2026-11-15',
    text: 'Half of the time is the server, which assembles the session and writes 44 MB of JSON. The other half is the browser, which parses it. The page itself needs less than 200 ms.',
  },
]
