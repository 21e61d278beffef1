import { percentile } from '../../../../bench/harness/percentile.ts'
import type { Figure } from '../../../../bench/harness/report.ts'
import type { Traffic } from '../traffic.ts'
import type { OtherClients } from './other-clients.ts'
import type { FaultName } from './faults.ts'
import type { Ledger } from './ledger.ts'
import { describeTrend, WARM_UP_MS, type MemoryWatch, type Trend } from './memory-watch.ts'

export type Soak = {
  minutes: number
  traffic: Traffic
  clients: OtherClients
  /** What attackers did, and the responses that they got. */
  attacks: Record<string, number>
  counts: Map<FaultName, number>
  latenciesMs: number[]
  memory: ReturnType<MemoryWatch['trends']>
  /** Where the data was, which decides which disk faults were possible. */
  disk: string
  /** Parts of the store that a full disk left incomplete. The server found and repaired them. */
  incompleteParts: number
  ledger: Ledger
  /** The sessions that an SDK recorded beside values which can't be encoded. */
  innocents: { sessions: number; dropped: number; incomplete: readonly string[] }
  /** Expired sessions before and after the last start; after it there should be none. */
  expiredBefore: number
  expiredAfter: number
  /** What went wrong; completed by `printSoak`. */
  problems: string[]
}

export function printSoak(soak: Soak, isJson: boolean): void {
  const facts = factsOf(soak)
  soak.problems.push(...problemsOf(soak))
  if (isJson) return console.log(JSON.stringify({ ...facts, problems: soak.problems }, undefined, 2))
  const width = Math.max(...Object.keys(facts).map((name) => name.length))
  for (const [name, value] of Object.entries(facts)) console.log(`${name.padEnd(width)}  ${value}`)
  console.log(soak.problems.length === 0 ? '\nNo problems found.' : `\n${soak.problems.join('\n')}`)
}

function factsOf({ minutes, traffic, clients, counts, latenciesMs, memory, ledger, ...soak }: Soak) {
  const certain = traffic.sessions.filter((session) => session.isCertain).length
  const tally = Object.entries(clients.tally).map(
    ([who, { requests, unavailable, unexpected }]) =>
      `${who} ${requests} (${unavailable} unavailable, ${unexpected.length} unexpected)`,
  )
  return {
    minutes,
    faults: [...counts].map(([name, count]) => `${count} × ${name}`).join(', '),
    requests: `${traffic.acknowledgedRequests} acknowledged, ${traffic.failedRequests} failed and retried or given up`,
    sessions: `${traffic.sessions.length}, of which ${traffic.sessions.length - certain} were given up by their sender`,
    'time to acknowledge, p50': `${percentile(latenciesMs, 0.5).toFixed(1)} ms`,
    'time to acknowledge, p99': `${percentile(latenciesMs, 0.99).toFixed(1)} ms, including faults`,
    disk: soak.disk,
    'incomplete parts': `${soak.incompleteParts}, left by a full disk, found and repaired`,
    'memory of the server': describeSlope(memory.server),
    'heap after full garbage collections': describeSlope(memory.heap),
    'memory of the engine': describeSlope(memory.engine),
    'other clients': `${tally.join(', ')}; ${clients.liveEvents} live events; ${Math.round(clients.backupBytes / 1024 ** 2)} MB of backups`,
    attackers: Object.entries(soak.attacks)
      .map(([what, count]) => `${count} ${what}`)
      .join(', '),
    'beside a hostile SDK': `${soak.innocents.sessions} innocent sessions, ${soak.innocents.incomplete.length} incomplete, ${soak.innocents.dropped} steps dropped`,
    retention: `${soak.expiredBefore} expired sessions before the last start, ${soak.expiredAfter} after`,
    'spans compared': `${ledger.checked}, and ${ledger.checkedOverApi} sessions also over the API`,
    lost: ledger.lost.length,
    duplicated: ledger.duplicated.length,
    altered: ledger.altered.length,
    outdated: `${ledger.outdated.length} sessions in the list`,
    'revoked keys': `${clients.revokedKeys}, of which ${clients.workingRevokedKeys} worked`,
  }
}

/** The figures for docs/benchmarks.md. */
export function figuresOf({
  counts,
  latenciesMs,
  memory,
  ledger,
  traffic,
  clients,
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
      what: 'parts that a full disk left incomplete, found and repaired',
      figure: soak.incompleteParts,
      unit: 'parts',
    },
    {
      what: 'acknowledged spans compared',
      figure: ledger.checked,
      unit: 'spans',
      note: `${traffic.acknowledgedRequests} requests acknowledged, ${traffic.failedRequests} failed`,
    },
    { what: 'lost', figure: ledger.lost.length, unit: 'spans', target: none },
    { what: 'duplicated', figure: ledger.duplicated.length, unit: 'spans', target: none },
    { what: 'altered', figure: ledger.altered.length, unit: 'spans', target: none },
    {
      what: 'sessions whose row in the list is older than their steps',
      figure: ledger.outdated.length,
      unit: 'sessions',
      target: { limit: 0, unit: 'sessions' },
    },
    {
      what: 'revoked keys that worked',
      figure: clients.workingRevokedKeys,
      unit: 'keys',
      note: `${clients.revokedKeys} keys were revoked`,
      target: { limit: 0, unit: 'keys' },
    },
    {
      what: 'responses that are neither correct nor "try again"',
      figure:
        traffic.unexpected.length +
        Object.values(clients.tally).flatMap(({ unexpected }) => unexpected).length,
      unit: 'responses',
      target: { limit: 0, unit: 'responses' },
    },
    { what: 'time to acknowledge, p50', figure: percentile(latenciesMs, 0.5), unit: 'ms' },
    { what: 'time to acknowledge, p99, including faults', figure: percentile(latenciesMs, 0.99), unit: 'ms' },
    memoryFigure('memory of the server', memory.server),
    memoryFigure('heap of the server after full garbage collections', memory.heap),
    memoryFigure('memory of the engine', memory.engine),
  ]
}

/** A process that did not live long enough for a slope still has a peak. */
function memoryFigure(what: string, trend: Trend): Figure {
  const note = describeTrend(trend)
  if (Number.isNaN(trend.slopeMbPerMinute))
    return { what: `${what}, peak`, figure: trend.peakMb, unit: 'MB', note }
  const figure = trend.slopeMbPerMinute
  const name = `${what}, slope after a warm-up of ${WARM_UP_MS / 1_000} s`
  return { what: name, figure, unit: 'MB/min', note }
}

function describeSlope(trend: Trend): string {
  const slope = trend.slopeMbPerMinute
  return `${Number.isNaN(slope) ? '' : `${slope.toFixed(1)} MB/min: `}${describeTrend(trend)}`
}

function problemsOf({ traffic, clients, ledger, expiredAfter, attacks, innocents }: Soak): string[] {
  const few = (what: string, list: readonly string[]) => list.slice(0, 5).map((line) => `${what}: ${line}`)
  return [
    ...few('lost', ledger.lost),
    ...few('duplicated', ledger.duplicated),
    ...few('altered', ledger.altered),
    ...few('incomplete beside a hostile SDK', innocents.incomplete),
    ...few('outdated', ledger.outdated),
    ...(clients.workingRevokedKeys === 0 ? [] : [`${clients.workingRevokedKeys} revoked keys worked`]),
    ...(expiredAfter === 0 ? [] : [`${expiredAfter} expired sessions were not deleted`]),
    ...(attacks['status 500'] === undefined
      ? []
      : [`${attacks['status 500']} responses with a 500 to attackers`]),
    ...few('response to a sender', traffic.unexpected),
    ...Object.entries(clients.tally).flatMap(([who, { unexpected }]) =>
      few(`response to ${who}`, unexpected),
    ),
  ]
}
