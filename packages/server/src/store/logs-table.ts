import { createHash } from 'node:crypto'
import type { Attributes, AttributeValue, LogDraft, LogOutline, LogRecord } from '@playhead/model'
import type { Columns, RowOf } from '../log/native-block.ts'

/** The columns of `logs` that we write; the log adds `segment`. */
export const logColumns = {
  project: 'String',
  session_id: 'String',
  step_id: 'String',
  log_id: 'String',
  received_at: "DateTime64(3, 'UTC')",
  logged_at: "DateTime64(9, 'UTC')",
  severity: 'String',
  name: 'String',
  outline: 'String',
  body: 'String',
  attributes: 'String',
  resource: 'String',
  scope_name: 'String',
  scope_version: 'String',
} as const satisfies Columns

export type LogRow = RowOf<typeof logColumns>

export function toLogRow(
  project: string,
  log: LogRecord,
  { outline }: LogDraft,
  context: { receivedAtMs: number; resource: string },
): LogRow {
  const body = JSON.stringify(log.body) ?? 'null'
  const attributes = JSON.stringify(log.attributes)
  return {
    project,
    session_id: outline.sessionId,
    step_id: outline.stepId ?? '',
    // OTLP gives records no id; the same record sent again must be the same row.
    log_id: createHash('sha1')
      .update(`${log.timeNs}\0${log.spanId ?? ''}\0${log.severity}\0${log.name}\0${body}\0${attributes}`)
      .digest('hex')
      .slice(0, 24),
    received_at: BigInt(context.receivedAtMs),
    logged_at: log.timeNs,
    severity: log.severity,
    name: log.name,
    outline: outline.adds === undefined ? '' : JSON.stringify(outline.adds),
    body,
    attributes,
    resource: context.resource,
    scope_name: log.scope.name,
    scope_version: log.scope.version,
  }
}

export const logOutlineSelect =
  'log_id, step_id, toUnixTimestamp64Micro(logged_at) AS logged_us, severity, name, outline'

export type LogOutlineRow = {
  log_id: string
  step_id: string
  logged_us: number
  severity: string
  name: string
  outline: string
}

export function logOutlineFromRow(sessionId: string, row: LogOutlineRow): LogOutline {
  const outline: LogOutline = {
    sessionId,
    stepId: row.step_id === '' ? null : row.step_id,
    atMs: row.logged_us / 1000,
    severity: row.severity,
    name: row.name,
  }
  if (row.outline !== '') outline.adds = JSON.parse(row.outline) as NonNullable<LogOutline['adds']>
  return outline
}

/** What is needed to have the record back as it arrived. */
export const logRecordSelect = `session_id, step_id, toString(toUnixTimestamp64Nano(logged_at)) AS logged_ns, severity, name, body,
  attributes, resource, scope_name, scope_version`

export type LogRecordRow = {
  session_id: string
  step_id: string
  logged_ns: string
  severity: string
  name: string
  body: string
  attributes: string
  resource: string
  scope_name: string
  scope_version: string
}

export function logRecordFromRow(row: LogRecordRow): LogRecord {
  return {
    traceId: row.session_id,
    spanId: row.step_id === '' ? null : row.step_id,
    timeNs: BigInt(row.logged_ns),
    severity: row.severity,
    name: row.name,
    body: JSON.parse(row.body) as AttributeValue,
    attributes: JSON.parse(row.attributes) as Attributes,
    resource: JSON.parse(row.resource) as Attributes,
    scope: { name: row.scope_name, version: row.scope_version },
  }
}
