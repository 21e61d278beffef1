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
  const found = explanations.find(({ metric }) => metric.test(what.trim()))
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
    profiled: '2026-11-18',
    text: "Most of it is code: of the engine's library, 183 MB are resident, and 61 MB of Node. What the kernel can't drop is 57 MB for the server and 76 MB for the engine. Loading the library alone makes 138 MB resident, and no setting of the allocator, of V8 or of threads changed the sum by more than 5 MB.",
  },
  {
    metric: /on disk per span/,
    text: 'Two fifths are the original attributes, a third is the text index, and a fifth are the previews of input and output (see the rows below). Without the previews, which could be computed on read, it would be within the target, but opening a session would then have to read its payloads.',
  },
  {
    metric: /^memory, peak|memory at .* peak/,
    profiled: '2026-11-19',
    text: 'Until merges begin, the engine takes 430 to 650 MB, of which its library and Node are 263 and its queries at most 156, and the server 560 to 640: 42 MB of its heap are alive after a full collection, up to 96 MB outside of it hold the rows from which sessions are computed, the thread that reads spans has 60 to 100, and the rest is garbage and encoded rows. In 18 s of saturation, both together stay below 1,055 MB. From 128 parts on, merges run beside the inserts, and the engine takes up to 1 GB. If words are collected at the same time, both together take up to 1.7 GB. Merging fewer parts at a time, smaller segments and one arena of the allocator brought no gain, or cost more throughput than they saved memory.',
  },
  {
    metric:
      /^ingest, |including the time|acknowledge at \d+k|after the acknowledgement, at 30k|^CPU per span/,
    profiled: '2026-11-19',
    text: "The limit is CPU time: client, server and engine share two cores, which have 2,000,000 µs a second, so 30,000 spans/s would leave 66 of them for a span. In 18 s of saturation, while the engine does not merge, a span takes 57 µs in the server, 20 in the engine and 3 in the client, at 23,200 spans/s (3 runs; 64, 19 and 3 at 21,400 with the version before, in turns). What the server does, alone: 28 µs from the bytes of a request to its rows (7 for protobuf and the JSON of attributes, 14 for their meaning, of which JSON.parse takes 2.2 and previews 2, 3 for the rest of a row, 3 for the format of the store; no other function takes more than 1), 6 for its session, about 7.5 for HTTP, the log and checksums, and about 6.5 in V8's helper threads. 28 µs in all would leave 8 for reading. On the same machine, a prototype of the same log and engine that copies the bytes of spans into columns, and knows no dialect, price or session, takes 8 µs in the server and 18 in the engine, and acknowledges 59,000 spans/s: the machine is not the limit, what a span means is. A merge takes the engine 8 µs a row, words 20 to 30: a phase that begins with parts and words of the phases before pays for those, too. From 15,000 spans/s on, words wait for up to 40 s. Below the limit, most acknowledgements that take more than 20 ms fall into a full collection of the heap or into the time in which the sessions of a segment are computed.",
  },
  {
    metric: /start to first response|second start/,
    profiled: '2026-11-19',
    text: "npm and the start script take about 190 ms. Then Node's modules and chDB's library are loaded (about 340), the folder is opened (110 to 155), and the statements of a start come one after another (about 145). A large store takes longer to open.",
  },
  {
    metric: /^saturated: processor time that 100 rules add/,
    text: 'At the limit of the machine, rules are checked within the twentieth of the time that findings may take; what they add beside that was not profiled. At 1,000 spans/s they cost nothing that can be measured.',
  },
  {
    metric: /^open a session|^list 50|^text search/,
    profiled: '2026-11-19',
    text: "Opening reads 14 columns with one statement. With 1,000,000 spans in seven parts it takes 6 to 8 ms, and in a store of 20,000 spans 4.4: 0.2 for each column, 2 for unpacking, and the rest for planning and for the parts that have the session. The way to the engine and back takes 0.9. From its rows to the response, the server needs 1.5 ms, sending 105 KB takes 0.6, and the client parses them in 0.3. A list that can't be answered from memory takes two statements of that kind. If it finds less than a page of sessions in the last day, it reads 14 days, and then everything. A rare word is looked up in the index of every part of the store, and each word on its own.",
  },
  {
    metric: /^drag: frame/,
    profiled: '2026-11-19',
    text: "A frame keeps the page's main thread busy for 7.5 to 8 ms (in a trace: 2 of script, 2.2 of layout, 3 of painting and committing), and rasterizing and drawing it takes 4 to 5 more. The browser of the benchmark has no GPU, so it does both on the same two cores that the server and the measurement use. A refresh is missed when something else needs them.",
  },
  {
    metric: /open 100,000 steps/,
    profiled: '2026-11-19',
    text: 'Of 750 ms of the main thread, a sixth is waiting for scripts while the server writes 7.8 MB of skeleton, an eighth is garbage collection, and the rest is work on all steps.',
  },
]
