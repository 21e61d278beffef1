import { emptyAttributes, type LogRecord } from '../otlp/span.ts'
import { agentOpsSource } from './agentops-session.ts'
import { parseIsoTimeNs } from './json-fields.ts'
import type { LogContent, LogOutline } from '../session/log-draft.ts'

/** Marks a record whose time is local time without a zone; see `correctLogTimes`. */
const WALL_CLOCK = 'agentops.log.wall_clock'

const firstLine = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d),(\d{3}) - ([A-Z]+) - (.*)$/s

type TextRecord = LogRecord & { body: string }

/** The rest of a longer text stays in the last record. */
const MAX_RECORDS = 20_000

/**
 * Splits the printed output that AgentOps' SDKs upload into log records; a line that starts with a time starts a
 * record. Idempotent: the same text gives the same records.
 */
export function agentOpsLogToRecords(
  text: string,
  context: { sessionId: string; receivedAtNs: bigint },
): LogRecord[] {
  const records: TextRecord[] = []
  const lines = text.replace(/\r?\n$/, '').split(/\r?\n/)
  for (const [index, line] of lines.entries()) {
    const match = firstLine.exec(line)
    const last = records.at(-1)
    const isMore = match === null || records.length === MAX_RECORDS
    if (isMore && last !== undefined) last.body = `${last.body}\n${line}`
    else if (match !== null || line.trim() !== '') records.push(recordOf(line, match, { ...context, index }))
  }
  return records
}

function recordOf(
  line: string,
  match: RegExpExecArray | null,
  { sessionId, receivedAtNs, index }: { sessionId: string; receivedAtNs: bigint; index: number },
): TextRecord {
  const timeNs = match === null ? null : parseIsoTimeNs(`${match[1]}T${match[2]}.${match[3]}`)
  const attributes = emptyAttributes()
  attributes['log.iostream'] = 'stdout'
  // Keeps equal lines of the same millisecond apart.
  attributes['agentops.log.line'] = index
  if (timeNs !== null) attributes[WALL_CLOCK] = true
  return {
    ...agentOpsSource,
    traceId: sessionId,
    spanId: null,
    timeNs: timeNs ?? receivedAtNs,
    severity: (match?.[4] ?? 'INFO').toLowerCase(),
    name: '',
    body: match?.[5] ?? line,
    attributes,
  }
}

const MINUTE_MS = 60_000
/** Allows for clock differences and for output just before the first step. */
const SLACK_MS = MINUTE_MS
/** Most time zones are whole hours apart; all are multiples of 15 minutes. */
const zoneStepsMs = [60 * MINUTE_MS, 30 * MINUTE_MS, 15 * MINUTE_MS]

/**
 * Corrects records whose sender wrote local times without a zone: finds the time zone that moves them into the time
 * span of the session.
 */
export function correctLogTimes<
  Log extends Pick<LogOutline, 'atMs'> & { content?: Pick<LogContent, 'attributes'> },
>(logs: readonly Log[], steps: readonly { startedAtMs: number; endedAtMs: number | null }[]): Log[] {
  const times = logs.filter(isWallClock).map((log) => log.atMs)
  const starts = steps.map((step) => step.startedAtMs).filter((ms) => ms > 0)
  if (times.length === 0 || starts.length === 0) return [...logs]
  const start = lowest(starts)
  const end = highest([start, ...steps.map((step) => step.endedAtMs ?? step.startedAtMs)])
  const offsets = zoneStepsMs.map((stepMs) => Math.floor((end + SLACK_MS - highest(times)) / stepMs) * stepMs)
  const first = lowest(times)
  const offsetMs = offsets.find((offset) => first + offset >= start - SLACK_MS) ?? offsets.at(-1)!
  return logs.map((log) => (isWallClock(log) ? { ...log, atMs: log.atMs + offsetMs } : log))
}

function isWallClock({ content }: { content?: Pick<LogContent, 'attributes'> }): boolean {
  return content?.attributes[WALL_CLOCK] === true
}

function lowest(values: readonly number[]): number {
  return values.reduce((least, value) => Math.min(least, value), Infinity)
}

function highest(values: readonly number[]): number {
  return values.reduce((most, value) => Math.max(most, value), -Infinity)
}
