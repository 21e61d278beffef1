import { percentile } from '../../../../bench/percentile.ts'
import type { Figure } from '../../../../bench/report.ts'
import type { Traffic } from '../traffic.ts'
import type { Company } from './company.ts'
import type { FaultName } from './faults.ts'
import type { Ledger } from './ledger.ts'
import { describeTrend, WARM_UP_MS, type MemoryWatch, type Trend } from './memory-watch.ts'

export type Soak = {
  minutes: number
  traffic: Traffic
  company: Company
  counts: Map<FaultName, number>
  latenciesMs: number[]
  memory: ReturnType<MemoryWatch['trends']>
  /** What the data lay on, and so which faults a disk could have. */
  disk: string
  /** Parts of the store that the full disk cut short, found and made again. */
  cutShort: number
  ledger: Ledger
  /** Sessions of the project that forgets, before the last start and after it; then there should be none. */
  oldBefore: number
  oldAfter: number
  /** What must not be: filled by `printSoak`. */
  problems: string[]
}

export function printSoak(soak: Soak, isJson: boolean): void {
  const facts = factsOf(soak)
  soak.problems.push(...problemsOf(soak))
  if (isJson) return console.log(JSON.stringify({ ...facts, problems: soak.problems }, undefined, 2))
  const width = Math.max(...Object.keys(facts).map((name) => name.length))
  for (const [name, value] of Object.entries(facts)) console.log(`${name.padEnd(width)}  ${value}`)
  console.log(soak.problems.length === 0 ? '\nThe ledger is clean.' : `\n${soak.problems.join('\n')}`)
}

function factsOf({ minutes, traffic, company, counts, latenciesMs, memory, ledger, ...soak }: Soak) {
  const certain = traffic.sessions.filter((session) => session.isCertain).length
  const tally = Object.entries(company.tally).map(
    ([who, { asked, told, wrong }]) => `${who} ${asked} (${told} told to wait, ${wrong.length} wrong)`,
  )
  return {
    minutes,
    faults: [...counts].map(([name, count]) => `${count} × ${name}`).join(', '),
    requests: `${traffic.acknowledgedRequests} acknowledged, ${traffic.failedRequests} failed and sent again or given up`,
    sessions: `${traffic.sessions.length}, of which ${traffic.sessions.length - certain} were given up by their sender`,
    'acknowledge p50': `${percentile(latenciesMs, 0.5).toFixed(1)} ms`,
    'acknowledge p99': `${percentile(latenciesMs, 0.99).toFixed(1)} ms, faults included`,
    disk: soak.disk,
    'cut short by the full disk': `${soak.cutShort} parts of the store, found and made again`,
    'memory of the server': slopeAndMore(memory.server),
    'heap in use after full collections': slopeAndMore(memory.heap),
    'memory of the engine': slopeAndMore(memory.engine),
    company: `${tally.join(', ')}; ${company.liveEvents} live events; ${Math.round(company.backupBytes / 1024 ** 2)} MB of backups`,
    retention: `${soak.oldBefore} sessions past their time before the last start, ${soak.oldAfter} after`,
    'spans compared': ledger.checked,
    lost: ledger.lost.length,
    duplicated: ledger.duplicated.length,
    altered: ledger.altered.length,
  }
}

/** The same for docs/benchmarks.md. */
export function figuresOf({
  counts,
  latenciesMs,
  memory,
  ledger,
  traffic,
  company,
  ...soak
}: Soak): Figure[] {
  const none = { limit: 0, unit: 'spans' }
  const faultCount = [...counts.values()].reduce((sum, count) => sum + count, 0)
  return [
    {
      what: 'faults',
      figure: faultCount,
      unit: '',
      note: `${[...counts].map(([name, count]) => `${count} × ${name}`).join(', ')}; ${soak.disk}`,
    },
    {
      what: 'parts of the store that the full disk cut short, found and made again',
      figure: soak.cutShort,
      unit: 'parts',
    },
    {
      what: 'acknowledged spans that were compared',
      figure: ledger.checked,
      unit: 'spans',
      note: `${traffic.acknowledgedRequests} requests acknowledged, ${traffic.failedRequests} failed`,
    },
    { what: 'lost', figure: ledger.lost.length, unit: 'spans', target: none },
    { what: 'duplicated', figure: ledger.duplicated.length, unit: 'spans', target: none },
    { what: 'altered', figure: ledger.altered.length, unit: 'spans', target: none },
    {
      what: 'answers that are neither right nor "try again"',
      figure: traffic.surprises.length + Object.values(company.tally).flatMap(({ wrong }) => wrong).length,
      unit: 'answers',
      target: { limit: 0, unit: 'answers' },
    },
    { what: 'acknowledge p50', figure: percentile(latenciesMs, 0.5), unit: 'ms' },
    { what: 'acknowledge p99, faults included', figure: percentile(latenciesMs, 0.99), unit: 'ms' },
    memoryFigure('memory of the server', memory.server),
    memoryFigure('heap of the server in use after full collections', memory.heap),
    memoryFigure('memory of the engine', memory.engine),
  ]
}

/** One that did not live long enough for a slope has a highest value all the same. */
function memoryFigure(what: string, trend: Trend): Figure {
  const note = describeTrend(trend)
  if (Number.isNaN(trend.slopeMbPerMinute))
    return { what: `${what}, highest`, figure: trend.peakMb, unit: 'MB', note }
  const figure = trend.slopeMbPerMinute
  const name = `${what}, slope after a warm-up of ${WARM_UP_MS / 1_000} s`
  return { what: name, figure, unit: 'MB a minute', note }
}

function slopeAndMore(trend: Trend): string {
  const slope = trend.slopeMbPerMinute
  return `${Number.isNaN(slope) ? '' : `${slope.toFixed(1)} MB a minute: `}${describeTrend(trend)}`
}

function problemsOf({ traffic, company, ledger, oldAfter }: Soak): string[] {
  const few = (what: string, list: readonly string[]) => list.slice(0, 5).map((line) => `${what}: ${line}`)
  return [
    ...few('lost', ledger.lost),
    ...few('duplicated', ledger.duplicated),
    ...few('altered', ledger.altered),
    ...(oldAfter === 0 ? [] : [`${oldAfter} sessions past their time were not deleted`]),
    ...few('an answer to a sender', traffic.surprises),
    ...Object.entries(company.tally).flatMap(([who, { wrong }]) => few(`an answer to ${who}`, wrong)),
  ]
}
