import { findKeyFault, findProjectFault, findRetentionFault, readPrices } from '../access/stored-registry.ts'
import { destinationFields, newDestinationSchema, secretFields } from '../api/schemas/alerts.ts'
import { newMonitorSchema } from '../api/schemas/monitors.ts'
import type { Scope } from '../api/schemas/settings.ts'
import { KnownError } from '../errors/known-error.ts'
import { BadRows } from '../store/bad-rows.ts'
import type { Store } from '../store/connect.ts'
import { parseObject } from '../store/stored-fields.ts'
import { outlineFromRow, outlineSelect, type OutlineRow } from '../store/steps-table.ts'

const SHOWN_FAULTS = 5
/** Clocks differ; a version from further in the future would outlast every later change. */
const FUTURE_MS = 86_400_000
/** Above every version of a step. */
const MAX_STEP_VERSION = 2 ** 48

const isHex = (column: string) => `match(${column}, '^[0-9a-f]{1,64}$')`
const isObject = (column: string) => `(isValidJSON(${column}) AND JSONType(${column}) = 'Object')`
const isList = (column: string) =>
  `(${column} = '' OR (isValidJSON(${column}) AND JSONType(${column}) = 'Array' AND arrayAll(item -> JSONType(item) = 'Object', JSONExtractArrayRaw(${column}))))`
const EVENT_TIMES = `arrayAll(item -> match(JSONExtractString(item, 'timeNs'), '^[0-9]{1,20}$'), JSONExtractArrayRaw(events))`

/** What must be true of each row, in SQL, and what to say if it is not. */
const rules: Record<
  'steps' | 'logs' | 'duplicate_calls' | 'session_tags' | 'issues',
  Record<string, string>
> = {
  steps: {
    [isHex('session_id')]: 'its session id is not hexadecimal',
    [isHex('step_id')]: 'its step id is not hexadecimal',
    [`(parent_id = '' OR ${isHex('parent_id')})`]: 'its parent id is not hexadecimal',
    [`version < ${MAX_STEP_VERSION}`]: 'its version is too high',
    'abs(arrival) < {latestUs:Int64}': 'it arrived in the future',
    'received_at < fromUnixTimestamp64Milli({latestMs:Int64})': 'it was received in the future',
    [isObject('attributes')]: 'its attributes are not a JSON object',
    [isObject('resource')]: 'its resource is not a JSON object',
    [isObject('outline')]: 'its outline is not a JSON object',
    [isList('events')]: 'its events are not a JSON list',
    [`(events = '' OR ${EVENT_TIMES})`]: 'an event has no time',
    [isList('links')]: 'its links are not a JSON list',
  },
  logs: {
    [isHex('session_id')]: 'its session id is not hexadecimal',
    [`(step_id = '' OR ${isHex('step_id')})`]: 'its step id is not hexadecimal',
    "log_id != ''": 'it has no id',
    'received_at < fromUnixTimestamp64Milli({latestMs:Int64})': 'it was received in the future',
    'isValidJSON(body)': 'its body is not JSON',
    [isObject('attributes')]: 'its attributes are not a JSON object',
    [isObject('resource')]: 'its resource is not a JSON object',
    [`(outline = '' OR ${isObject('outline')})`]: 'its outline is not a JSON object',
  },
  duplicate_calls: {
    [isHex('session_id')]: 'its session id is not hexadecimal',
    [isHex('step_id')]: 'its step id is not hexadecimal',
    'version < {latestUs:Int64}': 'its version is in the future',
  },
  session_tags: {
    [isHex('session_id')]: 'its session id is not hexadecimal',
    "tag != ''": 'it is empty',
    'version < {latestUs:Int64}': 'its version is in the future',
  },
  issues: {
    [isHex('id')]: 'its id is not hexadecimal',
    "state IN ('open', 'resolved', 'ignored')": 'its state is unknown',
    'version < {latestUs:Int64}': 'its version is in the future',
  },
}

/** Checks every row of the incoming backup. Throws with the first faults, before anything was restored. */
export async function checkIncoming(
  store: Store,
  options: { withKeys: boolean; knownProjects: readonly string[]; nowMs: number },
): Promise<void> {
  const faults = new BadRows(() => undefined)
  const latest = { latestMs: options.nowMs + FUTURE_MS, latestUs: (options.nowMs + FUTURE_MS) * 1_000 }
  const projects = await checkProjects(store, faults, latest.latestUs)
  const known = [...new Set([...projects, ...options.knownProjects])]
  if (options.withKeys) await checkKeys(store, faults, { known, latestUs: latest.latestUs })
  for (const table of ['steps', 'logs', 'duplicate_calls', 'session_tags', 'issues'] as const)
    await checkRows(store, table, { faults, known, latest })
  await checkWatch(store, faults, { known, latestUs: latest.latestUs })
  await checkOutlines(store, faults)
  if (faults.count === 0) return
  const shown = faults.list().slice(0, SHOWN_FAULTS)
  const told = shown.map(({ table, id, problem }) => `${table} "${id}": ${problem}`).join('; ')
  throw new KnownError(
    'BAD_REQUEST',
    `Nothing was restored, because the backup has invalid rows: ${told}${faults.count > SHOWN_FAULTS ? '; …' : '.'}`,
  )
}

type ProjectRow = {
  id: string
  retention: number | null
  overrides: string
  version: number
  is_deleted: number
}

async function checkProjects(store: Store, faults: BadRows, latestUs: number): Promise<string[]> {
  const rows = await read<ProjectRow>(
    store,
    'SELECT id, retention_days AS retention, price_overrides AS overrides, version, is_deleted FROM incoming_projects',
  )
  for (const row of rows) {
    const problems = [
      findProjectFault(row),
      ...readPrices(row.overrides).faults,
      findRetentionFault(row.retention),
      row.version < latestUs ? undefined : 'its version is in the future',
      row.is_deleted === 0 ? undefined : 'it is marked as deleted',
    ]
    for (const problem of problems) if (problem !== undefined) faults.note('projects', row.id, problem)
  }
  return rows.map(({ id }) => id)
}

type KeyRow = { id: string; project: string; hash: string; scopes: Scope[]; version: number }

async function checkKeys(
  store: Store,
  faults: BadRows,
  { known, latestUs }: { known: readonly string[]; latestUs: number },
): Promise<void> {
  for (const row of await read<KeyRow>(
    store,
    'SELECT id, project, hash, scopes, version FROM incoming_keys',
  )) {
    const problem =
      findKeyFault(row) ??
      (known.includes(row.project) ? undefined : 'its project is not in the backup') ??
      (row.version < latestUs ? undefined : 'its version is in the future')
    if (problem !== undefined) faults.note('keys', row.id, problem)
  }
}

type WatchRow = { id: string; project: string; definition: string; secrets: string; version: number }

/** Monitors and destinations have to be what the API would have taken; the secrets of destinations may be missing. */
async function checkWatch(
  store: Store,
  faults: BadRows,
  { known, latestUs }: { known: readonly string[]; latestUs: number },
): Promise<void> {
  for (const table of ['monitors', 'destinations'] as const) {
    const secrets = table === 'destinations' ? 'secrets' : "'{}' AS secrets"
    const query = `SELECT id, project, definition, ${secrets}, version FROM incoming_${table}`
    for (const row of await read<WatchRow>(store, query)) {
      const problem =
        (table === 'monitors' ? findMonitorFault(row) : findDestinationFault(row)) ??
        (known.includes(row.project) ? undefined : 'its project is not in the backup') ??
        (row.version < latestUs ? undefined : 'its version is in the future')
      if (problem !== undefined) faults.note(table, row.id, problem)
    }
  }
}

function findMonitorFault({ id, definition }: WatchRow): string | undefined {
  const { success } = newMonitorSchema.safeParse({ ...parseObject(definition), id })
  return success ? undefined : 'it is not a monitor'
}

function findDestinationFault({ id, definition, secrets }: WatchRow): string | undefined {
  const { problem: _, ...fields } = parseObject(definition)
  const whole = { ...fields, ...parseObject(secrets), id }
  const { error } = newDestinationSchema.safeParse(whole)
  const kind = Object.keys(destinationFields).find((name) => name === fields.kind) as
    | keyof typeof secretFields
    | undefined
  const hidden = new Set<unknown>(kind === undefined ? [] : secretFields[kind])
  const isMissing = (path: readonly PropertyKey[]) => hidden.has(path[0]) && !(String(path[0]) in whole)
  const faults = (error?.issues ?? []).filter(({ path }) => !isMissing(path))
  return faults.length === 0 ? undefined : 'it is not a destination'
}

async function checkRows(
  store: Store,
  table: keyof typeof rules,
  context: { faults: BadRows; known: readonly string[]; latest: Record<string, number> },
): Promise<void> {
  const conditions = {
    'has({known:Array(String)}, project)': 'its project is not in the backup',
    ...rules[table],
  }
  const [cases, all] = [Object.entries(conditions), Object.keys(conditions)]
  const name = table === 'logs' ? 'log_id' : table === 'session_tags' ? 'tag' : 'step_id'
  const id = table === 'issues' ? 'id' : `concat(session_id, ' ', ${name})`
  const rows = await read<{ id: string; problem: string }>(
    store,
    `SELECT ${id} AS id, multiIf(${cases.map(([rule, problem]) => `NOT ${rule}, '${problem}'`).join(', ')}, '') AS problem
      FROM incoming_${table} WHERE NOT (${all.join(' AND ')}) LIMIT ${SHOWN_FAULTS + 1}`,
    { known: context.known, ...context.latest },
  )
  for (const row of rows) context.faults.note(table, row.id, row.problem)
}

/** Reads each outline as the server will: a wrong type in it would only show when somebody opens the session. */
async function checkOutlines({ client }: Store, faults: BadRows): Promise<void> {
  const result = await client.query({
    query: `SELECT ${outlineSelect} FROM incoming_steps WHERE ${isObject('outline')}`,
    format: 'JSONEachRow',
  })
  for await (const rows of result.stream())
    faults.readEach(
      'steps',
      rows.map((row) => row.json<OutlineRow>()),
      { idOf: ({ session_id, step_id }) => `${session_id} ${step_id}`, read: outlineFromRow },
    )
}

async function read<Row>(
  { client }: Store,
  query: string,
  params: Record<string, unknown> = {},
): Promise<Row[]> {
  const result = await client.query({ query, query_params: params, format: 'JSONEachRow' })
  return result.json<Row>()
}
