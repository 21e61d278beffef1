import { emptyAttributes, type LogRecord } from '../otlp/span.ts'
import { agentOpsOrigin } from './agentops-session.ts'
import { parseIsoTimeNs } from './json-fields.ts'

/** Says of a record that its time is what a clock on the sender's wall showed; see `correctLogTimes`. */
export const WALL_CLOCK = 'agentops.log.wall_clock'

const firstLine = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d),(\d{3}) - ([A-Z]+) - (.*)$/s

type TextRecord = LogRecord & { body: string }

/** Nobody reads more lines; what follows stays whole, in the last of them. */
const MAX_RECORDS = 20_000

/**
 * The text that AgentOps' SDKs upload of what was printed, as log records: a line that begins with a time begins a
 * record. The same text always gives the same records, so that an upload that is sent again adds nothing.
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
  // Two equal lines of one millisecond are two lines.
  attributes['agentops.log.line'] = index
  if (timeNs !== null) attributes[WALL_CLOCK] = true
  return {
    ...agentOpsOrigin,
    traceId: sessionId,
    spanId: null,
    timeNs: timeNs ?? receivedAtNs,
    severity: (match?.[4] ?? 'INFO').toLowerCase(),
    name: '',
    body: match?.[5] ?? line,
    attributes,
  }
}
