import { emptyAttributes, type LogRecord } from '../otlp/span.ts'
import { agentOpsSource } from './agentops-session.ts'
import { parseIsoTimeNs } from './json-fields.ts'

/** Marks a record whose time is local time without a zone; see `correctLogTimes`. */
export const WALL_CLOCK = 'agentops.log.wall_clock'

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
