import { createHash } from 'node:crypto'
import type { Attributes, AttributeValue, LogDraft, LogOutline, LogRecord } from '@playhead/model'
import type { Columns } from '../log/native-block.ts'
import { parseObject } from './stored-fields.ts'

/** A log record that belongs to a session, as a row of `logs`. */
export type LogRow = {
  project: string
  log: LogRecord
  outline: LogOutline
  receivedAtMs: number
  id: string
  body: string
  attributes: string
  resource: string
}

export function toLogRow(
  project: string,
  log: LogRecord,
  { outline }: LogDraft,
  context: { receivedAtMs: number; resource: string },
): LogRow {
  const body = JSON.stringify(log.body) ?? 'null'
  const attributes = JSON.stringify(log.attributes)
  // OTLP records have no id. Derived from the content, a record that is sent twice is one row.
  const id = createHash('sha1')
    .update(`${log.timeNs}\0${log.spanId ?? ''}\0${log.severity}\0${log.name}\0${body}\0${attributes}`)
    .digest('hex')
    .slice(0, 24)
  return { project, log, outline, id, body, attributes, ...context }
}

/** The columns of `logs`, except `segment`, which the log adds. */
export const logColumns = {
  project: { type: 'String', value: (row) => row.project },
  session_id: { type: 'String', value: ({ outline }) => outline.sessionId },
  step_id: { type: 'String', value: ({ outline }) => outline.stepId ?? '' },
  log_id: { type: 'String', value: (row) => row.id },
  received_at: { type: "DateTime64(3, 'UTC')", value: (row) => BigInt(row.receivedAtMs) },
  logged_at: { type: "DateTime64(9, 'UTC')", value: ({ log }) => log.timeNs },
  severity: { type: 'String', value: ({ log }) => log.severity },
  name: { type: 'String', value: ({ log }) => log.name },
  outline: {
    type: 'String',
    value: ({ outline }) => (outline.adds === undefined ? '' : JSON.stringify(outline.adds)),
  },
  body: { type: 'String', value: (row) => row.body },
  attributes: { type: 'String', value: (row) => row.attributes },
  resource: { type: 'String', value: (row) => row.resource },
  scope_name: { type: 'String', value: ({ log }) => log.scope.name },
  scope_version: { type: 'String', value: ({ log }) => log.scope.version },
} as const satisfies Columns<LogRow>

type Selected<Name extends keyof typeof logColumns> = Record<Name, string>

const outlineNames = ['session_id', 'step_id', 'severity', 'name', 'outline'] as const

/** What `logOutlineFromRow` needs. */
export const logOutlineSelect = `${outlineNames.join(', ')}, toUnixTimestamp64Micro(logged_at) AS logged_us`

export type LogOutlineRow = Selected<(typeof outlineNames)[number]> & { logged_us: number }

export function logOutlineFromRow(row: LogOutlineRow): LogOutline {
  const outline: LogOutline = {
    sessionId: row.session_id,
    stepId: row.step_id === '' ? null : row.step_id,
    atMs: row.logged_us / 1000,
    severity: row.severity,
    name: row.name,
  }
  if (row.outline !== '') outline.adds = parseObject(row.outline)
  return outline
}

const recordNames = [
  'session_id',
  'step_id',
  'severity',
  'name',
  'body',
  'attributes',
  'resource',
  'scope_name',
  'scope_version',
] as const

/** What `logRecordFromRow` needs. */
export const logRecordSelect = `${recordNames.join(', ')}, toString(toUnixTimestamp64Nano(logged_at)) AS logged_ns`

export type LogRecordRow = Selected<(typeof recordNames)[number]> & { logged_ns: string }

export function logRecordFromRow(row: LogRecordRow): LogRecord {
  return {
    traceId: row.session_id,
    spanId: row.step_id === '' ? null : row.step_id,
    timeNs: BigInt(row.logged_ns),
    severity: row.severity,
    name: row.name,
    body: JSON.parse(row.body) as AttributeValue,
    attributes: parseObject(row.attributes) as Attributes,
    resource: parseObject(row.resource) as Attributes,
    scope: { name: row.scope_name, version: row.scope_version },
  }
}
