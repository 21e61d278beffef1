import {
  judgeMeasure,
  newMonitorState,
  nextMonitorState,
  type Condition,
  type Measured,
  type Monitor,
  type Observation,
  type Rule,
} from '@playhead/model'
import type { MonitorPreview } from '../api/schemas/monitors.ts'
import type { Issues } from '../findings/issues.ts'
import {
  scoreNumberOf,
  sessionConditions,
  sessionFilterSchema,
  type Conditions,
} from '../query/session-filter.ts'
import type { Store } from '../store/connect.ts'
import { DURATION_MS, STATE } from '../store/sessions-table.ts'

const DAY_MS = 86_400_000
const PREVIEW_MS = 30 * DAY_MS
const WEEK_MS = 7 * DAY_MS
/** Parts of a window: a value moves on by a sixth of it. */
const SLOTS_A_WINDOW = 6
const SHORTEST_SLOT_MS = 300_000
const MOST_POINTS = 720

type Slot = Measured & { slot: number; broken: number; scoreSum: number }

/** When a monitor would have fired in the last 30 days, from one query over the sessions of that time. */
export async function previewMonitor(
  { store, issues }: { store: Store; issues: Issues },
  project: string,
  monitor: Monitor,
  nowMs: number,
): Promise<MonitorPreview> {
  const { condition } = monitor
  const slotMs = slotLength(condition)
  const last = Math.floor(nowMs / slotMs)
  const first = last - Math.floor(PREVIEW_MS / slotMs)
  const isEstimate = condition.kind === 'rule' && isEstimated(condition.rule)
  const slots =
    condition.kind === 'issue'
      ? await issueSlots(issues, project, slotMs)
      : await readSlots(store, project, monitor, {
          slotMs,
          fromMs: first * slotMs - condition.windowMs - WEEK_MS,
          nowMs,
        })
  const window = Math.max(1, Math.round(condition.windowMs / slotMs))
  const figures = new Map(slots.map((slot) => [slot.slot, slot]))
  const sum = (end: number) => sumSlots(figures, end - window + 1, end)
  const seen: { at: number; value: number | null; observation: Observation }[] = []
  for (let slot = first; slot <= last; slot += 1) {
    const before = Math.round(slot - WEEK_MS / slotMs)
    seen.push({ at: (slot + 1) * slotMs, ...judge(condition, sum(slot), () => sum(before), slots) })
  }
  return {
    from: iso(first * slotMs),
    to: iso(nowMs),
    slotMs,
    points: thin(seen).map(({ at, value, observation }) => ({
      at: iso(Math.min(at, nowMs)),
      value,
      isBad: observation === 'bad',
    })),
    fired: firedIn(seen, monitor.forMs, nowMs),
    isEstimate,
  }
}

function slotLength({ kind, windowMs, ...rest }: Condition): number {
  // Percentiles of parts do not add up to that of the whole.
  const isWhole = kind === 'rate' && (rest as { measure: string }).measure === 'p95'
  return Math.max(SHORTEST_SLOT_MS, isWhole ? windowMs : windowMs / SLOTS_A_WINDOW, PREVIEW_MS / 8_640)
}

function judge(
  condition: Condition,
  now: Slot,
  weekBefore: () => Slot,
  slots: readonly Slot[],
): { value: number | null; observation: Observation } {
  switch (condition.kind) {
    case 'rate':
      return judgeMeasure(condition, now, condition.isChange === true ? weekBefore() : undefined)
    case 'rule':
      return { value: now.broken, observation: now.broken >= condition.sessions ? 'bad' : 'good' }
    case 'issue':
      return { value: now.sessions, observation: now.sessions > 0 ? 'bad' : 'good' }
    case 'silence': {
      const isBegun = slots.some(({ slot }) => slot <= now.slot)
      const observation = now.sessions > 0 ? 'good' : isBegun ? 'bad' : 'no-data'
      return { value: now.sessions, observation }
    }
  }
}

function sumSlots(figures: ReadonlyMap<number, Slot>, from: number, to: number): Slot {
  const sum: Slot = { ...emptySlot, slot: to }
  for (let slot = from; slot <= to; slot += 1) {
    const part = figures.get(slot)
    if (part === undefined) continue
    sum.sessions += part.sessions
    sum.failed += part.failed
    sum.succeeded += part.succeeded
    sum.broken += part.broken
    sum.scored += part.scored
    sum.scoreSum += part.scoreSum
    if (part.cost !== null) sum.cost = (sum.cost ?? 0) + part.cost
    if (part.p95Ms !== null) sum.p95Ms = Math.max(sum.p95Ms ?? 0, part.p95Ms)
  }
  sum.scoreMean = sum.scored === 0 ? null : sum.scoreSum / sum.scored
  return sum
}

const emptySlot: Slot = {
  slot: 0,
  sessions: 0,
  failed: 0,
  succeeded: 0,
  broken: 0,
  cost: null,
  p95Ms: null,
  scored: 0,
  scoreSum: 0,
  scoreMean: null,
}

function firedIn(
  seen: readonly { at: number; observation: Observation }[],
  forMs: number,
  nowMs: number,
): MonitorPreview['fired'] {
  let state = newMonitorState(seen[0]?.at ?? nowMs)
  const fired: MonitorPreview['fired'] = []
  for (const { at, observation } of seen) {
    const { next, transition } = nextMonitorState(state, observation, { nowMs: at, forMs })
    state = next
    if (transition === 'fired') fired.push({ from: iso(Math.min(at, nowMs)), to: null })
    if (transition === 'resolved') fired.at(-1)!.to = iso(at)
  }
  return fired
}

/** Keeps the worst point of each group, so that nothing bad is thinned out. */
function thin<Point extends { observation: Observation }>(points: readonly Point[]): Point[] {
  const size = Math.ceil(points.length / MOST_POINTS)
  if (size <= 1) return [...points]
  const thinned: Point[] = []
  for (let at = 0; at < points.length; at += size) {
    const group = points.slice(at, at + size)
    thinned.push(group.find(({ observation }) => observation === 'bad') ?? group.at(-1)!)
  }
  return thinned
}

async function readSlots(
  { client, words }: Store,
  project: string,
  { filter, condition }: Monitor,
  { slotMs, fromMs, nowMs }: { slotMs: number; fromMs: number; nowMs: number },
): Promise<Slot[]> {
  const parsed = sessionFilterSchema.parse(filter)
  const conditions = sessionConditions({ words }, project, {
    ...parsed,
    from: Math.max(0, Math.floor(fromMs)),
    to: nowMs,
  })
  const broken = condition.kind === 'rule' ? brokenSql(condition.rule) : { sql: '0', params: {} }
  const score = condition.kind === 'rate' ? condition.score : undefined
  const scored = score === undefined ? "CAST(NULL, 'Nullable(Float64)')" : scoreNumberOf('measured')
  const isP95 = condition.kind === 'rate' && condition.measure === 'p95'
  const result = await client.query({
    query: `SELECT intDiv(toUnixTimestamp64Milli(started_at), {slotMs:Int64}) AS slot, count() AS sessions,
        countIf(state = 'fail') AS failed, countIf(state = 'success') AS succeeded, sum(cost) AS cost,
        countIf(broken) AS broken, count(score) AS scored, ifNull(sum(score), 0) AS scoreSum,
        ${isP95 ? 'quantile(0.95)(duration)' : 'NULL'} AS p95
      FROM (SELECT started_at, cost, ${STATE} AS state, ${isP95 ? DURATION_MS : 'NULL'} AS duration,
          ${broken.sql} AS broken, ${scored} AS score
        FROM sessions FINAL WHERE ${conditions.sql})
      GROUP BY slot ORDER BY slot`,
    query_params: {
      ...conditions.params,
      ...broken.params,
      slotMs: Math.round(slotMs),
      ...(score !== undefined && { measured: score }),
    },
    format: 'JSONEachRow',
  })
  const rows = await result.json<Omit<Slot, 'p95Ms' | 'scoreMean'> & { p95: number | null }>()
  return rows.map(({ p95, ...row }) => ({
    ...row,
    p95Ms: p95,
    scoreMean: row.scored === 0 ? null : row.scoreSum / row.scored,
  }))
}

/** Issues by the time they were first seen. */
async function issueSlots(issues: Issues, project: string, slotMs: number): Promise<Slot[]> {
  const seen = (await issues.list(project)).map(({ firstSeenAt }) =>
    Math.floor(Date.parse(firstSeenAt) / slotMs),
  )
  const counts = Map.groupBy(seen, (slot) => slot)
  return [...counts].map(([slot, all]) => ({ ...emptySlot, slot, sessions: all.length }))
}

/** Lists know neither arguments nor which errors were handled. */
function isEstimated({ kind }: Rule): boolean {
  return kind === 'at-most' || kind === 'no-errors'
}

/** SQL that tells from a row of `sessions` whether it breaks a rule, as `checkRule` tells from the session itself. */
function brokenSql(rule: Rule): Conditions {
  switch (rule.kind) {
    case 'never':
      return rule.before === undefined
        ? { sql: 'has(action_names, {ruleAction:String})', params: { ruleAction: rule.action } }
        : {
            sql: '(has(action_names, {ruleAction:String}) AND (NOT has(action_names, {ruleBefore:String}) OR indexOf(action_names, {ruleAction:String}) < indexOf(action_names, {ruleBefore:String})))',
            params: { ruleAction: rule.action, ruleBefore: rule.before },
          }
    case 'always':
      return {
        sql: `(${STATE} != 'running' AND NOT has(action_names, {ruleAction:String}))`,
        params: { ruleAction: rule.action },
      }
    case 'at-most':
      return rule.action === undefined
        ? {
            sql: 'arrayExists(name -> countEqual(action_names, name) > {ruleTimes:UInt32}, arrayDistinct(action_names))',
            params: { ruleTimes: rule.times },
          }
        : {
            sql: 'countEqual(action_names, {ruleAction:String}) > {ruleTimes:UInt32}',
            params: { ruleAction: rule.action, ruleTimes: rule.times },
          }
    case 'only':
      return {
        sql: 'arrayExists(name -> NOT has({ruleActions:Array(String)}, name), action_names)',
        params: { ruleActions: rule.actions },
      }
    case 'cost':
      return { sql: 'ifNull(cost > {ruleLimit:Float64}, 0)', params: { ruleLimit: rule.atMost } }
    case 'duration':
      return {
        sql: `ifNull(${DURATION_MS} > {ruleLimit:Float64}, 0)`,
        params: { ruleLimit: rule.atMostMs },
      }
    case 'no-errors':
      return { sql: '(error_count > 0)', params: {} }
    case 'no-finding':
      return {
        sql: `(session_id IN (SELECT session_id FROM session_findings FINAL WHERE project = {project:String} AND hasAny(suspect_kinds, {ruleFindings:Array(String)})))`,
        params: { ruleFindings: rule.findings },
      }
    case 'score':
      return {
        sql: `ifNull(${scoreNumberOf('ruleScore')} < {ruleLimit:Float64}, 0)`,
        params: { ruleScore: rule.name, ruleLimit: rule.atLeast },
      }
  }
}

function iso(ms: number): string {
  return new Date(ms).toISOString()
}
