import type { FindingKind } from '@playhead/model'
import type { Issue, IssueDetail } from '../api/schemas/findings.ts'
import { KnownError } from '../errors/known-error.ts'
import type { Store } from '../store/connect.ts'
import { hourBucket, STATE } from '../store/sessions-table.ts'
import type { VersionClock } from '../store/version-clock.ts'
import { comparisonKey, findPassing } from './passing-sessions.ts'
import { stateOf, type Decision, type VersionCount, type VersionHistory } from './issue-state.ts'

const MOST_ISSUES = 1_000
const ACTIVITY_DAYS = 14
const DAY_MS = 86_400_000
const PASSING_WINDOW_MS = 30 * DAY_MS
const MOST_SUSPECTS = 10

export type IssueChange = {
  state?: Decision['state'] | undefined
  version?: string | undefined
  sessions?: number | undefined
  note?: string | undefined
}

type CountedRow = {
  id: string
  kind: FindingKind
  title: string
  sessions: number
  users: number
  first_ms: number
  last_ms: number
  example: string
  name: string
  days: number[]
}

/**
 * Issues: sessions with the same failure. They are counted from the findings whenever somebody asks; only what people
 * decided is stored, so that restarts, other nodes and late spans change nothing.
 */
export class Issues {
  readonly #store: Store
  readonly #versions: VersionClock

  constructor(store: Store, versions: VersionClock) {
    this.#store = store
    this.#versions = versions
  }

  /** The issues of a project, the one that was seen last first; at most 1,000. */
  async list(project: string, id?: string): Promise<Issue[]> {
    const counted = await this.#count(project, id)
    if (counted.length === 0) return []
    const [versions, decisions, passing] = await Promise.all([
      this.#countVersions(project, id),
      this.#readDecisions(project, id),
      this.#findPassing(project, counted),
    ])
    const history = await this.#readHistory(project, decisions)
    return counted.map((row) =>
      toIssue(row, {
        counts: versions.get(row.id) ?? [],
        decision: decisions.get(row.id),
        history,
        passingSessionId: passing(row),
      }),
    )
  }

  /** How many issues `list` leaves out: those that were seen longest ago. */
  async countOmitted(project: string, listed: number): Promise<number> {
    if (listed < MOST_ISSUES) return 0
    const [row] = await this.#query<{ total: number }>(
      `SELECT uniqExact(issue_id) AS total FROM session_findings FINAL WHERE project = {project:String} AND issue_id != ''`,
      { project },
    )
    return Math.max(0, (row?.total ?? 0) - listed)
  }

  async read(project: string, id: string): Promise<IssueDetail> {
    const issue = await this.#find(project, id)
    const [versions, suspects, example] = await Promise.all([
      this.#countVersions(project, id),
      this.#countSuspects(project, id),
      this.#readExample(project, issue.exampleSessionId),
    ])
    const byVersion = (versions.get(id) ?? []).map(({ version, sessions, firstSeenMs, lastSeenMs }) => ({
      version,
      sessions,
      firstSeenAt: isoTime(firstSeenMs),
      lastSeenAt: isoTime(lastSeenMs),
    }))
    return { ...issue, byVersion, suspects, example }
  }

  /** Stores a decision. What it does not mention stays as it was. */
  async change(project: string, id: string, change: IssueChange): Promise<Issue> {
    const issue = await this.#find(project, id)
    const before = (await this.#readDecisions(project, id)).get(id)
    await this.#versions.observe('issues', 'project = {project:String} AND id = {id:String}', { project, id })
    const isDecided = change.state !== undefined
    const resolved = change.version ?? issue.versions.at(-1) ?? ''
    await this.#store.client.insert({
      table: 'issues',
      format: 'JSONEachRow',
      values: [
        {
          project,
          id,
          state: change.state ?? before?.state ?? 'open',
          resolved_version:
            change.state === 'resolved' ? resolved : isDecided ? '' : (before?.resolvedVersion ?? ''),
          decided_at: clickHouseTime(isDecided ? Date.now() : (before?.decidedAtMs ?? Date.now())),
          ignored_until:
            change.state === 'ignored'
              ? change.sessions === undefined
                ? 0
                : issue.sessions + change.sessions
              : isDecided
                ? 0
                : (before?.ignoredUntil ?? 0),
          note: change.note ?? before?.note ?? '',
          version: this.#versions.next(),
        },
      ],
    })
    return this.#find(project, id)
  }

  async #find(project: string, id: string): Promise<Issue> {
    const [issue] = await this.list(project, id)
    if (issue === undefined)
      throw new KnownError('NOT_FOUND', `There is no issue ${id.slice(0, 60)}. GET /api/issues lists them.`)
    return issue
  }

  #count(project: string, id: string | undefined): Promise<CountedRow[]> {
    return this.#query<CountedRow>(
      `SELECT issue_id AS id, argMax(issue_kind, started_at) AS kind, argMax(issue_title, started_at) AS title,
        count() AS sessions, uniqExactIf(user_id, user_id != '') AS users,
        toUnixTimestamp64Milli(min(started_at)) AS first_ms, toUnixTimestamp64Milli(max(started_at)) AS last_ms,
        argMax(session_id, started_at) AS example, argMax(name, started_at) AS name,
        arrayMap(day -> toUInt32(countEqual(groupArray(intDiv({endMs:Int64} - toUnixTimestamp64Milli(started_at), ${DAY_MS})), day)), reverse(range(${ACTIVITY_DAYS}))) AS days
      FROM session_findings FINAL
      WHERE project = {project:String} AND issue_id != '' ${id === undefined ? '' : 'AND issue_id = {id:String}'}
      GROUP BY issue_id ORDER BY last_ms DESC, id LIMIT ${MOST_ISSUES}`,
      { project, id, endMs: Math.ceil(Date.now() / DAY_MS) * DAY_MS },
    )
  }

  async #countVersions(project: string, id: string | undefined): Promise<Map<string, VersionCount[]>> {
    const rows = await this.#query<VersionCount & { id: string }>(
      `SELECT issue_id AS id, toString(service_version) AS version, count() AS sessions,
        toUnixTimestamp64Milli(min(started_at)) AS firstSeenMs, toUnixTimestamp64Milli(max(started_at)) AS lastSeenMs
      FROM session_findings FINAL
      WHERE project = {project:String} AND issue_id != '' ${id === undefined ? '' : 'AND issue_id = {id:String}'}
      GROUP BY issue_id, service_version ORDER BY firstSeenMs, version`,
      { project, id },
    )
    return Map.groupBy(rows, (row) => row.id)
  }

  async #readDecisions(project: string, id: string | undefined): Promise<Map<string, Decision>> {
    const rows = await this.#query<Decision & { id: string }>(
      `SELECT id, toString(state) AS state, resolved_version AS resolvedVersion,
        toUnixTimestamp64Milli(decided_at) AS decidedAtMs, ignored_until AS ignoredUntil, note
      FROM issues FINAL WHERE project = {project:String} ${id === undefined ? '' : 'AND id = {id:String}'}`,
      { project, id },
    )
    return new Map(rows.map(({ id: issue, ...decision }) => [issue, decision]))
  }

  /** Needed only where an issue is resolved in a version that is no number. */
  async #readHistory(project: string, decisions: ReadonlyMap<string, Decision>): Promise<VersionHistory> {
    if ([...decisions.values()].every(({ resolvedVersion }) => resolvedVersion === '')) return new Map()
    const rows = await this.#query<{ version: string; first: number }>(
      `SELECT toString(service_version) AS version, toUnixTimestamp64Milli(min(started_at)) AS first
      FROM session_findings FINAL WHERE project = {project:String} AND service_version != '' GROUP BY service_version`,
      { project },
    )
    return new Map(rows.map(({ version, first }) => [version, first]))
  }

  /** A session that passed for each issue: of the same test as the example, or with its input; otherwise of the same name. */
  async #findPassing(
    project: string,
    issues: readonly CountedRow[],
  ): Promise<(issue: CountedRow) => string | null> {
    const keys = await this.#readKeys(
      project,
      issues.map(({ example }) => example),
    )
    const [alike, named] = await Promise.all([
      findPassing(this.#store, project, [...new Set(keys.values())]),
      this.#findNamed(project, [...new Set(issues.map(({ name }) => name))]),
    ])
    return ({ example, name }) => alike.get(keys.get(example) ?? '') ?? named.get(name) ?? null
  }

  /** What each session can be compared by. */
  async #readKeys(project: string, ids: readonly string[]): Promise<Map<string, string>> {
    const rows = await this.#query<{
      id: string
      name: string
      input: string
      test: [string, string, string]
    }>(
      `SELECT session_id AS id, name, input_preview AS input, [test_name, test_file, test_variant] AS test
      FROM sessions FINAL WHERE project = {project:String} AND session_id IN {ids:Array(String)}`,
      { project, ids },
    )
    return new Map(
      rows.flatMap(({ id, name, input, test: [testName, file, variant] }) => {
        const test = testName === '' ? undefined : { name: testName, file, variant }
        const key = comparisonKey({ name, inputPreview: input || undefined, test })
        return key === undefined ? [] : [[id, key]]
      }),
    )
  }

  /** The newest session of each name that passed and is no issue itself. */
  async #findNamed(project: string, names: readonly string[]): Promise<Map<string, string>> {
    const nowMs = Date.now()
    const rows = await this.#query<{ name: string; id: string }>(
      `SELECT name, argMax(session_id, started_at) AS id FROM sessions FINAL
      WHERE project = {project:String} AND bucket <= {since:UInt32} AND name IN {names:Array(String)}
        AND parent_id = '' AND ${STATE} = 'success'
        AND session_id NOT IN (SELECT session_id FROM session_findings FINAL WHERE project = {project:String} AND issue_id != '')
      GROUP BY name`,
      { project, names, nowMs, since: hourBucket(nowMs - PASSING_WINDOW_MS) },
    )
    return new Map(rows.map(({ name, id }) => [name, id]))
  }

  #countSuspects(project: string, id: string): Promise<IssueDetail['suspects']> {
    return this.#query(
      `SELECT suspect.1 AS name, suspect.2 AS kind, count() AS sessions, countIf(suspect.3 = 1) AS asFirst
      FROM (SELECT arrayJoin(arrayZip(suspect_names, suspect_kinds, arrayEnumerate(suspect_names))) AS suspect
        FROM session_findings FINAL WHERE project = {project:String} AND issue_id = {id:String})
      GROUP BY name, kind ORDER BY asFirst DESC, sessions DESC, name LIMIT ${MOST_SUSPECTS}`,
      { project, id },
    )
  }

  async #readExample(project: string, sessionId: string): Promise<IssueDetail['example']> {
    const [row] = await this.#query<IssueDetail['example']>(
      `SELECT suspect_steps[1] AS stepId, sentence FROM session_findings FINAL
      WHERE project = {project:String} AND session_id = {sessionId:String}`,
      { project, sessionId },
    )
    return row ?? { stepId: '', sentence: '' }
  }

  async #query<Row>(query: string, params: Record<string, unknown>): Promise<Row[]> {
    const result = await this.#store.client.query({ query, query_params: params, format: 'JSONEachRow' })
    return result.json<Row>()
  }
}

function toIssue(
  row: CountedRow,
  {
    counts,
    decision,
    history,
    passingSessionId,
  }: {
    counts: readonly VersionCount[]
    decision: Decision | undefined
    history: VersionHistory
    passingSessionId: string | null
  },
): Issue {
  const state = stateOf(decision, counts, history)
  return {
    id: row.id,
    kind: row.kind,
    title: row.title,
    state,
    sessions: row.sessions,
    users: row.users,
    firstSeenAt: isoTime(row.first_ms),
    lastSeenAt: isoTime(row.last_ms),
    versions: counts.flatMap(({ version }) => (version === '' ? [] : [version])),
    exampleSessionId: row.example,
    passingSessionId,
    activity: row.days,
    ...(decision !== undefined &&
      decision.resolvedVersion !== '' && { resolvedVersion: decision.resolvedVersion }),
    ...(decision !== undefined && decision.ignoredUntil > 0 && { ignoredUntil: decision.ignoredUntil }),
    ...(decision !== undefined && decision.note !== '' && { note: decision.note }),
  }
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString()
}

function clickHouseTime(ms: number): string {
  return isoTime(ms).replace('T', ' ').replace('Z', '')
}
