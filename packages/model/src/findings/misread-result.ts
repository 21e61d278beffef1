import { isRecord } from '../json/attribute-value.ts'
import { capitalize, evidenceAt, nameTurn, quoteMatch, toClue } from './clue.ts'
import type { Clue } from './finding.ts'
import { resultOf, type Trajectory, type Turn } from './trajectory.ts'

/** How many results back a statement may be about. */
const RECENT_RESULTS = 6
const MOST_STATEMENTS = 400

/** Finds statements that contradict the results that they are about. */
export function findMisreadings({ turns, request }: Trajectory): Clue[] {
  const results: Turn[] = []
  let asked = request
  const clues: Clue[] = []
  let looked = 0
  for (const turn of turns) {
    if (turn.role === 'action') results.push(turn)
    if (turn.role === 'user') asked += ` ${turn.text}`
    if (turn.role !== 'decision' || turn.calls.length > 0 || results.length === 0) continue
    looked += 1
    if (looked > MOST_STATEMENTS) break
    const recent = results.slice(-RECENT_RESULTS)
    clues.push(
      ...findMiscount(turn, recent),
      ...findDenial(turn, recent),
      ...findUnsupported(turn, results, asked),
    )
  }
  return clues
}

const counted =
  /\b(?:are|have|found|has|is|total of|offer)\s+(?:currently\s+|a total of\s+|\w+\s+)?\**(\d{1,3})\**\s+(?:[\w-]+\s+){0,4}?(?:options|items|variants|orders|products|types|results|flights|entries|records|versions|choices|rooms|users|tickets|files|rows)\b/gi
const SMALLEST_COUNT = 5
const NEAR = 2

/** "There are 11 options", where the list has 12, of which 10 are available: near a count, but none. */
function findMiscount(turn: Turn, recent: readonly Turn[]): Clue[] {
  for (const match of turn.text.matchAll(counted)) {
    const stated = Number(match[1])
    if (stated < SMALLEST_COUNT) continue
    for (const result of recent.toReversed()) {
      const counts = countsIn(resultOf(result))
      if (counts.has(stated)) break
      const near = [...counts].filter((count) => count >= SMALLEST_COUNT && Math.abs(count - stated) <= NEAR)
      if (near.length === 0) continue
      return [
        toClue(
          'fail-plausible/miscounted',
          turn,
          1,
          `${capitalize(nameTurn(turn))} says "${match[0]}", but ${nameTurn(result)} returned ${near.join(' or ')}.`,
          [evidenceAt(turn, 'output', match[0]), evidenceAt(result, 'output', result.text)],
        ),
      ]
    }
  }
  return []
}

const MAX_DEPTH = 4

/** How many entries each list has, and how many of them share a value. */
function countsIn(value: unknown, counts: Set<number> = new Set(), depth = 0): Set<number> {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return counts
  const items: unknown[] = Object.values(value)
  const records = items.filter(isRecord)
  if (records.length >= 3) {
    counts.add(items.length)
    const shared = new Map<string, number>()
    for (const record of records)
      for (const [key, item] of fieldsOf(record))
        if (typeof item === 'boolean' || typeof item === 'string')
          shared.set(`${key} ${String(item)}`, (shared.get(`${key} ${String(item)}`) ?? 0) + 1)
    for (const count of shared.values()) counts.add(count)
  }
  for (const item of items) countsIn(item, counts, depth + 1)
  return counts
}

function fieldsOf(record: Record<string, unknown>): [string, unknown][] {
  return Object.entries(record).flatMap(([key, item]): [string, unknown][] =>
    isRecord(item) ? Object.entries(item) : [[key, item]],
  )
}

const denied =
  /\b(?:does not|doesn't|do not|don't|did not|didn't) (?:have|include|contain|show) (?:a|an|any) ([a-z]{5,20})\b/i

/** "The order does not have a tracking number", where a result has one under that name. */
function findDenial(turn: Turn, recent: readonly Turn[]): Clue[] {
  const name = denied.exec(turn.text)?.[1]?.toLowerCase()
  if (name === undefined) return []
  const filled = new RegExp(String.raw`"${name}[a-z_]*":\s*(?:\[\s*)?"[^"\s]{4,}`, 'i')
  const result = recent.findLast(({ text }) => filled.test(text))
  if (result === undefined) return []
  return [
    toClue(
      'fail-plausible/denied',
      turn,
      1,
      `${capitalize(nameTurn(turn))} says that there is no ${name}, but ${nameTurn(result)} returned one.`,
      [
        evidenceAt(turn, 'output', quoteMatch(turn.text, denied)),
        evidenceAt(result, 'output', quoteMatch(result.text, filled)),
      ],
    ),
  ]
}

const identifier = /\b\d{6,}\b|\b[A-Z]{2,}\d{4,}\b/g

/** "The number for the tablet is 1944…", where the number was found, but nothing about a tablet. */
function findUnsupported(turn: Turn, results: readonly Turn[], asked: string): Clue[] {
  for (const sentence of turn.text.split(/(?<=[.!?])\s+|\n+/)) {
    const values = sentence.match(identifier)
    const thing = /\bfor (?:the|your) (?:[a-z]+ ){0,1}?([a-z]{4,20})\b/i.exec(sentence)?.[1]?.toLowerCase()
    if (values === null || thing === undefined || !asked.toLowerCase().includes(thing)) continue
    const stem = thing.replace(/s$/, '')
    const isFound = results.some(({ text }) => text.includes(values[0]))
    if (!isFound || results.some(({ text }) => text.toLowerCase().includes(stem))) continue
    return [
      toClue(
        'fail-plausible/unsupported',
        turn,
        1,
        `${capitalize(nameTurn(turn))} gives ${values[0]} for the ${thing}, but no result mentions ${thing}.`,
        [evidenceAt(turn, 'output', sentence)],
      ),
    ]
  }
  return []
}
