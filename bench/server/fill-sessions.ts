import type { ClickHouseClient } from '@clickhouse/client'
import { DIAGNOSIS_VERSION } from '@playhead/model'
import { hourBucket } from '../../packages/server/src/store/sessions-table.ts'
import type { Progress } from '../harness/progress.ts'

const ROWS_AT_ONCE = 100_000
/** Sessions are spread over this many days, more of them recent, as in a growing project. */
const SPREAD_DAYS = 90

/** Generates sessions inside the engine, each with one step to search in. */
export async function fillSessions(
  client: ClickHouseClient,
  count: number,
  progress: Progress,
): Promise<void> {
  await fill({ client, count, progress }, [sessionsSql(), stepsSql])
}

/**
 * Generates sessions inside the engine, each with some scores and without steps. They have findings, because the server goes
 * on looking for those of a session until it has read its steps.
 */
export async function fillScoredSessions(
  client: ClickHouseClient,
  { sessions, scoresEach }: { sessions: number; scoresEach: number },
  progress: Progress,
): Promise<void> {
  await fill({ client, count: sessions, progress }, [sessionsSql(scoreColumns(scoresEach)), findingsSql])
}

type Filling = { client: ClickHouseClient; count: number; progress: Progress }

async function fill({ client, count, progress }: Filling, statements: readonly string[]): Promise<void> {
  const nowMs = Date.now()
  for (let first = 0; first < count; first += ROWS_AT_ONCE) {
    const rows = Math.min(ROWS_AT_ONCE, count - first)
    const query_params = { first, rows, nowMs, base: hourBucket(0) }
    for (const query of statements) await client.command({ query, query_params })
    progress.show('generating sessions', (first + rows) / count)
  }
}

/** `n` is the number of a session. All its values follow from it, so that a filter matches a known share. */
const numbered = `
  SELECT {first:UInt64} + number AS n, cityHash64(n) AS random,
    {nowMs:Int64} - toInt64(pow((n + 1) / 1000000, 1.6) * ${SPREAD_DAYS * 86_400_000}) AS started_ms,
    lower(hex(MD5(concat('session ', toString(n))))) AS id,
    200 + random % 20000 AS duration_ms,
    random % 100 < 7 AS is_failed,
    ['support', 'research', 'coder', 'travel', 'billing', 'planner'][1 + random % 6] AS agent_name,
    ['gpt-4o', 'gpt-4o-mini', 'claude-sonnet-4-5', 'gemini-2.5-pro', 'house-llama-70b'][1 + intDiv(random, 7) % 5] AS model_name,
    ['fetch_customer', 'search_documents', 'send_email', 'issue_refund', 'classify_intent', 'list_orders', 'book_flight', 'run_tests'][1 + intDiv(random, 11) % 8] AS tool_name,
    ['I was charged twice for my subscription', 'Where is my order?', 'Summarise the quarterly report', 'Book a flight to Lisbon', 'Refactor the payment module', 'Cancel my plan'][1 + intDiv(random, 13) % 6] AS asked,
    300 + random % 9000 AS input_tokens, 20 + random % 700 AS output_tokens,
    input_tokens * 0.0000025 + output_tokens * 0.00001 AS dollars
  FROM numbers({rows:UInt64})`

/** More columns of a session, and their values. */
type MoreColumns = Record<string, string>

/** `helpful`, `score_1`, `score_2` …, and the card that lists read, as the server writes it. */
function scoreColumns(each: number): MoreColumns {
  const nth = (value: string) => `arrayMap(nth -> ${value}, range(${each}))`
  const name = `if(nth = 0, 'helpful', concat('score_', toString(nth)))`
  const number = '(random + nth) % 100 / 100'
  const scores = `concat('[', arrayStringConcat(${nth(
    `concat('{"id":"', id, '-', toString(nth), '","name":"', ${name}, '","value":', toString(${number}), ',"source":"model","at":"2026-01-01T00:00:00.000Z"}')`,
  )}, ','), ']')`
  return {
    score_names: nth(name),
    score_numbers: nth(`CAST(${number}, 'Nullable(Float64)')`),
    score_words: nth(`''`),
    scores,
    card: `concat('{"name":"', agent_name, '","inputPreview":', toJSONString(asked), ',"tags":[],"usage":{"input":', toString(input_tokens), ',"output":', toString(output_tokens), '},"cost":', toString(dollars), ',"unpricedModels":[],"stepCount":2,"llmCallCount":1,"actionCount":1,"errorCount":0,"models":["', model_name, '"],"agents":[],"tools":["', tool_name, '"],"demo":false,"scores":', ${scores}, '}')`,
  }
}

const sessionsSql = (more: MoreColumns = {}) => `
INSERT INTO sessions (project, bucket, session_id, version, is_deleted, started_at, ended_at, last_heard_at, is_open, settled_state,
  end_state_reason, name, input_preview, tags, usage, cost, unpriced_models, step_count, llm_call_count, action_count, error_count,
  models, agents, tools, user_id, thread_id, environment, branch, error_types, error_messages, error_prints,
  call_models, call_costs, call_inputs, call_outputs, call_durations, call_failed, action_names, action_durations, action_failed${listed(Object.keys(more))})
SELECT 'default', toUInt32({base:UInt32} - intDiv(started_ms, 3600000) * 3600), id, 1, 0,
  fromUnixTimestamp64Milli(started_ms), fromUnixTimestamp64Milli(started_ms + toInt64(duration_ms)), fromUnixTimestamp64Milli(started_ms + toInt64(duration_ms)),
  0, if(is_failed, 'fail', 'success'), if(is_failed, 'ValueError: customer_id cannot be null', ''), agent_name, asked,
  arrayFilter(tag -> cityHash64(tag, n) % 3 = 0, ['production', 'beta', 'eu', 'vip', 'nightly', 'checkout']),
  map('input', toUInt64(input_tokens), 'output', toUInt64(output_tokens)), if(model_name = 'house-llama-70b', NULL, dollars),
  if(model_name = 'house-llama-70b', [model_name], []), 3 + random % 40, 1 + random % 9, 1 + random % 12, if(is_failed, 1, 0),
  [model_name], [agent_name], [tool_name, 'session_complete'], concat('user-', toString(random % 5000)), concat('thread-', toString(intDiv(n, 3))),
  if(random % 4 = 0, 'staging', 'production'), '', if(is_failed, ['ValueError'], []), if(is_failed, ['customer_id cannot be null'], []),
  if(is_failed, [substring(lower(hex(MD5(tool_name))), 1, 16)], []), [model_name], [if(model_name = 'house-llama-70b', NULL, dollars)],
  [toUInt64(input_tokens)], [toUInt64(output_tokens)], [toFloat32(duration_ms / 2)], [0], [tool_name, 'session_complete'],
  [toFloat32(duration_ms / 3), 1], [toUInt8(is_failed), 0]${listed(Object.values(more))}
FROM (${numbered})`

function listed(more: readonly string[]): string {
  return more.map((one) => `, ${one}`).join('')
}

const stepsSql = `
INSERT INTO steps (project, session_id, step_id, version, received_at, started_at, ended_at, kind, name, dialect, status, model, outline, normalizer_version, span_name, attributes)
SELECT 'default', id, substring(id, 1, 16), 1, fromUnixTimestamp64Milli(started_ms), fromUnixTimestamp64Milli(started_ms), fromUnixTimestamp64Milli(started_ms + 500),
  'llm', model_name, 'otel-genai', 'ok', model_name, '{}', 1, 'chat',
  concat('{"gen_ai.input.messages":"', asked, ' and please look at invoice number ', toString(random % 1000000), '"}')
FROM (${numbered})`

const findingsSql = `
INSERT INTO session_findings (project, session_id, version, is_deleted, stamp, diagnosis_version, started_at, name, end_state)
SELECT 'default', id, 1, 0, '', ${DIAGNOSIS_VERSION}, fromUnixTimestamp64Milli(started_ms), agent_name, if(is_failed, 'fail', 'success')
FROM (${numbered})`
