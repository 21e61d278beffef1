import {
  countOf,
  judgeMeasure,
  type Condition,
  type Measured,
  type Monitor,
  type Observation,
} from '@playhead/model'
import type { Issues } from '../findings/issues.ts'
import { listQuerySchema, listSessions } from '../query/list-sessions.ts'
import { readStats, statsQuerySchema } from '../query/stats.ts'
import type { Store } from '../store/connect.ts'
import type { Example, WatchedMonitor } from './monitor-store.ts'
import type { RuleResults } from './rule-results.ts'

const WEEK_MS = 7 * 86_400_000
const EXAMPLES = 3

/** What one evaluation of a monitor saw. */
export type Seen = { observation: Observation; value: number | null; examples: Example[] }

export type ObserveOptions = { store: Store; issues: Issues; results: RuleResults }

/** Evaluates the monitors of one project as of now. Those whose query failed have an error; the others do not suffer. */
export async function observeMonitors(
  options: ObserveOptions,
  project: string,
  watched: readonly WatchedMonitor[],
  nowMs: number,
): Promise<Map<string, Seen | Error>> {
  const seen = new Map<string, Seen | Error>()
  const rules = watched.filter(({ monitor }) => monitor.condition.kind === 'rule')
  const counted = await options.results.count(project, rules, nowMs).catch(asError)
  for (const { monitor } of watched) {
    const { condition } = monitor
    if (condition.kind !== 'rule') {
      seen.set(monitor.id, await observe(options, project, { ...monitor, condition }, nowMs).catch(asError))
      continue
    }
    if (counted instanceof Error) {
      seen.set(monitor.id, counted)
      continue
    }
    const { sessions = 0, examples = [] } = counted.get(monitor.id) ?? {}
    const observation = sessions >= condition.sessions ? 'bad' : 'good'
    seen.set(monitor.id, { observation, value: sessions, examples })
  }
  return seen
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}

type Watched<Kind extends Condition['kind']> = Omit<Monitor, 'condition'> & {
  condition: Extract<Condition, { kind: Kind }>
}

async function observe(
  options: ObserveOptions,
  project: string,
  monitor: Watched<'rate' | 'silence' | 'issue'>,
  nowMs: number,
): Promise<Seen> {
  const { condition } = monitor
  switch (condition.kind) {
    case 'rate':
      return observeRate(options, project, { ...monitor, condition }, nowMs)
    case 'silence': {
      const { sessions } = await measure(options.store, project, monitor, nowMs)
      if (sessions > 0) return { observation: 'good', value: sessions, examples: [] }
      const [last] = await listSome(options.store, project, monitor.filter, { limit: 1 })
      // Nothing was ever sent: it is not there yet, not silent.
      return { observation: last === undefined ? 'no-data' : 'bad', value: 0, examples: [] }
    }
    case 'issue':
      return observeIssues(options.issues, project, condition.windowMs, nowMs)
  }
}

async function observeRate(
  { store }: ObserveOptions,
  project: string,
  monitor: Watched<'rate'>,
  nowMs: number,
): Promise<Seen> {
  const { condition } = monitor
  const [now, before] = await Promise.all([
    measure(store, project, monitor, nowMs),
    condition.isChange === true ? measure(store, project, monitor, nowMs - WEEK_MS) : undefined,
  ])
  const judged = judgeMeasure(condition, now, before)
  const examples = judged.observation === 'bad' ? await findExamples(store, project, monitor, nowMs) : []
  return { ...judged, examples }
}

/** The figures of the window that ends at a time. */
async function measure(
  store: Store,
  project: string,
  { filter, condition }: Watched<'rate' | 'silence' | 'issue'>,
  endMs: number,
): Promise<Measured> {
  const score = condition.kind === 'rate' ? condition.score : undefined
  const query = statsQuerySchema.parse({ ...filter, ...(score !== undefined && { scoreName: score }) })
  const stats = await readStats(store, project, { ...query, from: endMs - condition.windowMs, to: endMs })
  return {
    sessions: stats.total,
    failed: stats.fail,
    succeeded: stats.success,
    cost: stats.cost,
    p95Ms: stats.durationMs.p95,
    scored: stats.score?.count ?? 0,
    scoreMean: stats.score?.mean ?? null,
  }
}

/** The sessions that speak most for what is bad: failed ones, dear ones, slow ones, badly scored ones. */
async function findExamples(
  store: Store,
  project: string,
  { filter, condition }: Watched<'rate'>,
  nowMs: number,
): Promise<Example[]> {
  const { measure: what, score, windowMs } = condition
  const order = {
    'failure-rate': { status: 'fail' },
    cost: { sort: 'cost' },
    p95: { sort: 'duration' },
    count: {},
    score: { sort: `score:${score}`, order: 'asc' },
  }[what]
  const range = { from: String(nowMs - windowMs), to: String(nowMs) }
  return listSome(store, project, { ...filter, ...order }, { ...range, limit: EXAMPLES })
}

async function listSome(
  store: Store,
  project: string,
  filter: object,
  more: { from?: string; to?: string; limit: number },
): Promise<Example[]> {
  const query = listQuerySchema.parse({ ...filter, ...more, reruns: 'exclude' })
  const { sessions } = await listSessions(store, project, query)
  return sessions.map(({ id, name, endStateReason }) => ({
    sessionId: id,
    message: endStateReason ?? name,
  }))
}

async function observeIssues(
  issues: Issues,
  project: string,
  windowMs: number,
  nowMs: number,
): Promise<Seen> {
  const sinceMs = nowMs - windowMs
  const fresh = (await issues.list(project)).filter(
    ({ state, firstSeenAt, lastSeenAt }) =>
      (state === 'open' && Date.parse(firstSeenAt) >= sinceMs) ||
      (state === 'reopened' && Date.parse(lastSeenAt) >= sinceMs),
  )
  return {
    observation: fresh.length > 0 ? 'bad' : 'good',
    value: fresh.length,
    examples: fresh.slice(0, EXAMPLES).map(({ exampleSessionId, title, sessions }) => ({
      sessionId: exampleSessionId,
      message: `${title} (${countOf(sessions, 'session')})`,
    })),
  }
}
