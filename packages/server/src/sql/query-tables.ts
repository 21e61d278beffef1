import { DURATION_MS, STATE } from '../store/sessions-table.ts'
import { CURRENCY, rowsBySession } from '../store/steps-table.ts'

type QueryTable = {
  about: string
  /** Each column and where it is from. */
  columns: Record<string, string>
  /** What follows FROM, for the project. `database` is that of the store. */
  from: (database: string) => string
}

const sessionRows = (database: string) =>
  `${database}.sessions FINAL WHERE project = {project:String} AND is_deleted = 0`

/** The parts of a session's arrays as rows. */
const itemsOf = (items: string) => (database: string) =>
  `(SELECT session_id, started_at, arrayJoin(${items}) AS item FROM ${sessionRows(database)})`

const tokens = (field: string) => `if(mapContains(usage, '${field}'), usage['${field}'], NULL)`

/** A field of a packed outline; rows of earlier versions have it in a column. */
const packed = (column: string, path: string) =>
  `if(${column} != '', ${column}, JSONExtractString(outline, ${path}))`

const stepColumns = [
  'parent_id',
  'kind',
  'name',
  'tool',
  'model',
  'agent',
  'status',
  'started_at',
  'ended_at',
  'error_type',
  'error_message',
  'cost',
  'input_preview',
  'output_preview',
  'outline',
  'attributes',
]

/**
 * The row that counts of each step. Grouped and not sorted, so that the engine reads only the columns that a query uses, and
 * only the sessions that it asks for. In a tuple, because `argMax` passes over NULL.
 */
function currentSteps(database: string): string {
  const values = stepColumns.map((column) => `argMax(tuple(row.${column}), row.currency).1 AS ${column}`)
  return `(SELECT row.session_id AS session_id, row.step_id AS step_id, ${values.join(', ')}
    FROM (SELECT *, ${CURRENCY} AS currency FROM ${rowsBySession(database)}) AS row GROUP BY session_id, step_id)`
}

/** The tables of `POST /api/query`, over those of the store: what a query sees, and the only place that knows both. */
export const queryTables: Record<string, QueryTable> = {
  sessions: {
    about: 'one row a session',
    columns: {
      id: 'session_id',
      name: 'name',
      state: STATE,
      reason: 'end_state_reason',
      started_at: 'started_at',
      ended_at: 'ended_at',
      duration_ms: DURATION_MS,
      cost: 'cost',
      input_tokens: tokens('input'),
      output_tokens: tokens('output'),
      steps: 'step_count',
      llm_calls: 'llm_call_count',
      actions: 'action_count',
      errors: 'error_count',
      tags: 'tags',
      models: 'models',
      agents: 'agents',
      tools: 'tools',
      user_id: 'user_id',
      thread_id: 'thread_id',
      environment: 'environment',
      version: 'service_version',
      branch: 'branch',
      commit: 'commit',
      test: 'test_name',
      test_file: 'test_file',
      run_id: 'test_run_id',
      parent_id: 'parent_id',
      lane: 'lane',
      input: 'input_preview',
    },
    from: sessionRows,
  },
  actions: {
    about: 'one row for each call of a tool',
    columns: {
      session_id: 'session_id',
      started_at: 'started_at',
      name: 'item.1',
      duration_ms: 'item.2',
      failed: 'item.3',
    },
    from: itemsOf('arrayZip(action_names, action_durations, action_failed)'),
  },
  llm_calls: {
    about: 'one row for each model call, counted once',
    columns: {
      session_id: 'session_id',
      started_at: 'started_at',
      model: 'item.1',
      cost: 'item.2',
      input_tokens: 'item.3',
      output_tokens: 'item.4',
      duration_ms: 'item.5',
      failed: 'item.6',
    },
    from: itemsOf(
      'arrayZip(call_models, call_costs, call_inputs, call_outputs, call_durations, call_failed)',
    ),
  },
  errors: {
    about: 'one row for each error',
    columns: { session_id: 'session_id', started_at: 'started_at', type: 'item.1', message: 'item.2' },
    from: itemsOf('arrayZip(error_types, error_messages)'),
  },
  findings: {
    about: 'what went wrong in a session, and its issue',
    columns: {
      session_id: 'session_id',
      started_at: 'started_at',
      kinds: 'kinds',
      sentence: 'sentence',
      issue_id: 'issue_id',
      issue_title: 'issue_title',
      version: 'service_version',
    },
    from: (database) =>
      `${database}.session_findings FINAL WHERE project = {project:String} AND is_deleted = 0`,
  },
  steps: {
    about: 'one row a step, with its attributes as JSON; large, so filter by session_id or name',
    columns: {
      session_id: 'session_id',
      id: 'step_id',
      parent_id: 'parent_id',
      kind: 'kind',
      name: 'name',
      tool: 'tool',
      model: 'model',
      agent: 'agent',
      status: 'status',
      started_at: 'started_at',
      ended_at: 'ended_at',
      error_type: 'error_type',
      error_message: packed('error_message', "'error', 'message'"),
      cost: 'cost',
      input: packed('input_preview', "'inputPreview'"),
      output: packed('output_preview', "'outputPreview'"),
      attributes: 'attributes',
    },
    from: currentSteps,
  },
}

/** `WITH sessions AS (…), …`: the tables of a project, for one query. */
export function writeTables(database: string): string {
  const tables = Object.entries(queryTables).map(([name, { columns, from }]) => {
    const selected = Object.entries(columns).map(([column, source]) =>
      column === source ? column : `${source} AS ${column}`,
    )
    return `${name} AS (SELECT ${selected.join(', ')} FROM ${from(database)})`
  })
  return `WITH ${tables.join(', ')}`
}

/** `sessions(id, name, …)`, a line for each table. */
export function describeTables(): string {
  return Object.entries(queryTables)
    .map(([name, { columns }]) => `${name}(${Object.keys(columns).join(', ')})`)
    .join('\n')
}
