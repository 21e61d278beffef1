import { compareValues, type TextComparison, type ValueDifference } from '../align/compare-values.ts'
import { diffWords, type WordDifference } from '../align/diff-words.ts'
import { replaceTokens, shapeOfText, type VolatileToken } from '../align/text-shape.ts'
import { describeValue, visibleText } from '../format/visible-text.ts'
import { stepTitle } from '../session/step.ts'
import { settingsOf, toolOfMessage, type Meaning } from './meaning.ts'
import type { ActionEntry, ModelEntry, TapeEntry } from './tape-entry.ts'

/** Why the tape has no answer: the nearest recording, and the first thing that differs from it. */
export type TapeMiss = {
  kind: 'model' | 'action'
  /** The recorded step that is nearest to what was asked; absent when the tape has none of that kind. */
  stepId?: string
  step?: number
  /** The number of the message that differs; the first is 1. */
  message?: number
  /** What differs: `system prompt`, `message 3 (tool result of fetch_customer)`, `argument customer_id`. */
  field?: string
  recorded?: unknown
  asked?: unknown
  /** The difference word by word, where both sides are text. */
  words?: WordDifference[]
  sentence: string
}

const VALUE_WIDTH = 60

type Place = { message?: number; field: string; recorded: unknown; asked: unknown }

export function explainModelMiss(
  asked: Meaning,
  entries: readonly ModelEntry[],
  comparison: TextComparison,
): TapeMiss {
  if (entries.length === 0) return { kind: 'model', sentence: 'The tape has no model call.' }
  const nearest = pickNearest(entries, (entry) => countEqualMessages(entry.asked, asked, comparison))
  const place = findPlace(nearest.asked, asked, comparison)
  if (place === undefined) return missOf(nearest, 'The model was asked this once more than recorded')
  const shown = { ...place, comparison }
  if (entries.every(({ isUsed }) => isUsed) && isLonger(asked, nearest.asked))
    return missOf(nearest, 'The tape has no model call left. The last one that is like this', shown)
  return missOf(nearest, 'The model was asked something else than recorded', shown)
}

function isLonger(asked: Meaning, recorded: Meaning): boolean {
  return asked.messages.length > recorded.messages.length
}

export function explainActionMiss(
  call: { name: string; given: unknown },
  entries: readonly ActionEntry[],
  comparison: TextComparison,
): TapeMiss {
  const name = visibleText(call.name)
  if (entries.length === 0)
    return { kind: 'action', sentence: `The tape has no action ${name}: the recorded run never called it.` }
  const nearest = pickNearest(
    entries,
    (entry) => -differences(entry.arguments, call.given, comparison).length,
  )
  const [difference] = differences(nearest.arguments, call.given, comparison)
  if (difference === undefined) return missOf(nearest, `${name} was called once more than recorded`)
  const field = difference.path === '' ? 'arguments' : `argument ${difference.path}`
  return missOf(nearest, `${name} was called with other arguments than recorded`, {
    field,
    recorded: difference.a,
    asked: difference.b,
    comparison,
  })
}

function differences(recorded: unknown, asked: unknown, comparison: TextComparison): ValueDifference[] {
  return compareValues(recorded, asked, comparison, 100)
}

/** The best score wins, then what was not used, then what comes first. */
function pickNearest<Entry extends TapeEntry>(
  entries: readonly Entry[],
  score: (entry: Entry) => number,
): Entry {
  const scored = entries.map((entry) => ({ entry, score: score(entry) + (entry.isUsed ? 0 : 0.5) }))
  return scored.reduce((best, other) => (other.score > best.score ? other : best)).entry
}

function countEqualMessages(taped: Meaning, live: Meaning, comparison: TextComparison): number {
  const length = Math.min(taped.messages.length, live.messages.length)
  let count = 0
  while (count < length && isSame(taped.messages[count], live.messages[count], comparison)) count += 1
  // Of calls that begin alike, the one of the same length is the same turn.
  return count - Math.abs(taped.messages.length - live.messages.length) / 1000
}

function isSame(a: unknown, b: unknown, comparison: TextComparison): boolean {
  return compareValues(a, b, comparison).length === 0
}

function findPlace(taped: Meaning, live: Meaning, comparison: TextComparison): Place | undefined {
  const length = Math.max(taped.messages.length, live.messages.length)
  for (let index = 0; index < length; index += 1) {
    const [recorded, asked] = [taped.messages[index], live.messages[index]]
    const [difference] = compareValues(recorded, asked, comparison)
    if (difference === undefined) continue
    const inside = difference.path.replace(/^parts(?:\[\d+\])?(?:\.(?:result|arguments))?\.?/, '')
    const name = nameMessage(recorded ?? asked!, index)
    const isWhole = recorded === undefined || asked === undefined || inside === '' || inside === 'role'
    return {
      message: index + 1,
      field: isWhole ? name : `${name} › ${inside}`,
      recorded: difference.a,
      asked: difference.b,
    }
  }
  const [setting] = compareValues(...settingsOf(taped, live), comparison)
  if (setting === undefined) return undefined
  return { field: setting.path.replace(/^parameters\./, ''), recorded: setting.a, asked: setting.b }
}

function nameMessage(message: Meaning['messages'][number], index: number): string {
  if (message.role === 'system') return 'system prompt'
  const tool = toolOfMessage(message)
  const what = tool === undefined ? message.role : `tool result of ${visibleText(tool)}`
  return `message ${index + 1} (${message.role === 'tool' && tool === undefined ? 'tool result' : what})`
}

function missOf(nearest: TapeEntry, start: string, found?: Place & { comparison: TextComparison }): TapeMiss {
  const { step, number, kind } = nearest
  const base: TapeMiss = { kind, stepId: step.id, step: number, sentence: '' }
  const where = `step ${number} ${visibleText(stepTitle(step))}`
  if (found === undefined) return { ...base, sentence: `${start} (${where}).` }
  const { comparison, ...place } = found
  const { recorded, asked } = place
  const areTexts = typeof recorded === 'string' && typeof asked === 'string'
  const read = areTexts ? withRecordedIds(recorded, asked, comparison) : undefined
  const [shownRecorded, shownAsked] =
    read === undefined ? [recorded, asked] : cutToDifference(recorded as string, read)
  return {
    ...base,
    ...place,
    ...(read !== undefined && { words: diffWords(recorded as string, read) }),
    sentence: `${start} (${where}): ${visibleText(place.field)} ${compareShown(shownRecorded, shownAsked)}.`,
  }
}

function compareShown(recorded: unknown, asked: unknown): string {
  if (asked === undefined) return `is missing, recorded was ${describeValue(recorded, VALUE_WIDTH)}`
  if (recorded === undefined) return `is new: ${describeValue(asked, VALUE_WIDTH)}`
  return `is ${describeValue(asked, VALUE_WIDTH)}, recorded was ${describeValue(recorded, VALUE_WIDTH)}`
}

/** What was asked, with the recorded ids and times where others stand for them: they are no difference. */
function withRecordedIds(recorded: string, asked: string, comparison: TextComparison): string {
  const [taped, live] = [recorded, asked].map((text) => {
    const tokens: VolatileToken[] = []
    shapeOfText(text, (token) => tokens.push(token))
    return tokens
  })
  const isAlike =
    taped!.length === live!.length && taped!.every(({ shape }, at) => shape === live![at]!.shape)
  if (!isAlike) return asked
  let at = -1
  return replaceTokens(asked, ({ text }) => {
    at += 1
    return comparison.isSameText(taped![at]!.text, text) ? taped![at]!.text : text
  })
}

/** Long texts are shown from shortly before they differ. */
function cutToDifference(a: string, b: string): [a: string, b: string] {
  let start = 0
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1
  const from = a.lastIndexOf(' ', Math.max(0, start - 16)) + 1
  return from < 2 ? [a, b] : [`…${a.slice(from)}`, `…${b.slice(from)}`]
}
