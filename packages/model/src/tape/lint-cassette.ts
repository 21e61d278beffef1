import { visibleText } from '../format/visible-text.ts'
import { isRecord } from '../json/attribute-value.ts'
import { createRedactor, type Redactor } from '../redaction/redact.ts'
import { redactJson } from '../redaction/redact-json.ts'
import { parseCassette, type CassetteEntry, type ParsedCassette } from './cassette.ts'
import { redactEntry, redactMessage } from './write-cassette.ts'

export type CassetteFinding = { line: number; kind: 'broken' | 'secret' | 'unused' | 'old'; sentence: string }

export type LintOptions = {
  nowMs: number
  /** A cassette that was recorded longer ago is old. */
  maxAgeMs: number
  /** The numbers of the entries that the last run did not ask for, from 1. */
  unused?: readonly number[] | undefined
  redactor?: Redactor
}

/** What is wrong with a cassette, in the order of its lines. */
export function lintCassette(
  text: string,
  { nowMs, maxAgeMs, unused = [], redactor = createRedactor() }: LintOptions,
): CassetteFinding[] {
  const parsed = parseCassette(text)
  const broken = parsed.problems.map(({ line, sentence }) => ({ line, kind: 'broken' as const, sentence }))
  const findings = [
    ...broken,
    ...findSecrets(parsed, redactor),
    ...findUnused(parsed, unused),
    ...findAge(parsed, nowMs, maxAgeMs),
  ]
  return findings.toSorted((one, other) => one.line - other.line)
}

/** Whatever the writer would have masked. */
function findSecrets({ meta, messages, entries }: ParsedCassette, redactor: Redactor): CassetteFinding[] {
  const input = {
    line: 1,
    before: { input: meta?.input },
    after: { input: redactJson(meta?.input, redactor) },
  }
  const checked = [
    input,
    ...messages.map(({ line, message }) => ({
      line,
      before: message,
      after: redactMessage(message, redactor),
    })),
    ...entries.map(({ line, entry }) => {
      const own = withoutMessages(entry)
      return { line, before: own, after: redactEntry(own, redactor) }
    }),
  ]
  return checked.flatMap(({ line, before, after }) => {
    const place = firstDifference(before, after)
    if (place === undefined) return []
    const where = place.length === 0 ? '' : ` at ${visibleText(place.join('.'))}`
    return [{ line, kind: 'secret', sentence: `holds a secret${where}. Remove it, and revoke it.` }]
  })
}

/** Messages have lines of their own. */
function withoutMessages(entry: CassetteEntry): CassetteEntry {
  return entry.kind === 'action' ? entry : { ...entry, asked: { ...entry.asked, messages: [] } }
}

/** The path of the first value that differs; undefined if none does. */
function firstDifference(one: unknown, other: unknown): string[] | undefined {
  if (Object.is(one, other)) return undefined
  const areLists = Array.isArray(one) && Array.isArray(other)
  if (!areLists && !(isRecord(one) && isRecord(other))) return []
  const [left, right] = [one, other] as [Record<string, unknown>, Record<string, unknown>]
  for (const key of new Set([...Object.keys(left), ...Object.keys(right)])) {
    const inside = firstDifference(left[key], right[key])
    if (inside !== undefined) return [key, ...inside]
  }
  return undefined
}

/** A cassette of several sessions has the way of each, and no run takes them all. */
function findUnused({ meta, entries }: ParsedCassette, unused: readonly number[]): CassetteFinding[] {
  if ((meta?.sessions.length ?? 0) > 1) return []
  return entries.flatMap(({ line, entry }, index) => {
    if (!unused.includes(index + 1)) return []
    const what = entry.kind === 'action' ? entry.name : (entry.asked.model ?? 'a model call')
    return [{ line, kind: 'unused', sentence: `${visibleText(what)} was not asked for in the last run.` }]
  })
}

function findAge({ meta }: ParsedCassette, nowMs: number, maxAgeMs: number): CassetteFinding[] {
  const recordedAt = Date.parse(meta?.recordedAt ?? '')
  if (Number.isNaN(recordedAt) || nowMs - recordedAt <= maxAgeMs) return []
  const date = new Date(recordedAt).toISOString().slice(0, 10)
  const sentence = `was recorded on ${date}. Models and tools may answer otherwise today: PLAYHEAD_CASSETTE=record.`
  return [{ line: 1, kind: 'old', sentence }]
}
