import {
  countOf,
  parseSessionIdPrefix,
  filterKeys,
  findFilterKey,
  type FilterKey,
  writeTerm,
} from '@playhead/model'

/** The text being typed: a value after a known key, or a word that may become a key. */
export type Draft = { key: FilterKey; partial: string } | { key: undefined; word: string }

export type Suggestion =
  | { kind: 'key'; text: string; label: string; hint: string }
  | { kind: 'value'; text: string; label: string; hint: string }
  | { kind: 'words'; text: string; label: string; hint: string }
  | { kind: 'session'; text: string; label: string; hint: string }

const SHORTEST_ID = 6

export function readDraft(draft: string): Draft {
  const [, typed, rest = ''] = /^\s*([A-Za-z_.]+):(?!\/\/)(.*)$/s.exec(draft) ?? []
  const key = typed === undefined ? undefined : findFilterKey(typed)
  if (key === undefined) return { key: undefined, word: draft.trim() }
  return { key, partial: rest.replace(/^"/, '').replace(/"$/, '') }
}

/** Whether a space completes the term: after `tag:x` it does, after plain words and inside quotes it doesn't. */
export function isWholeTerm(draft: string): boolean {
  const read = readDraft(draft)
  if (read.key === undefined || read.partial === '') return false
  const value = draft.slice(draft.indexOf(':') + 1)
  return !value.startsWith('"') || /^".*[^\\]"$/s.test(value)
}

/** Suggestions for the text; `values` are the stored values of the key's field. */
export function suggest(draft: string, values: readonly { value: string; sessions: number }[]): Suggestion[] {
  const read = readDraft(draft)
  if (read.key !== undefined) return suggestValues(read.key, read.partial, values)
  const { word } = read
  const keys = filterKeys
    .filter(({ name }) => name.toLowerCase().startsWith(word.toLowerCase()))
    .map(({ name, summary }): Suggestion => ({
      kind: 'key',
      text: `${name}:`,
      label: `${name}:`,
      hint: summary,
    }))
  if (word === '') return keys
  const id = word.length >= SHORTEST_ID ? parseSessionIdPrefix(word) : undefined
  return [
    ...(id === undefined
      ? []
      : [{ kind: 'session' as const, text: id, label: `s_${id}`, hint: 'open this session' }]),
    ...keys,
    { kind: 'words', text: word, label: word, hint: 'search prompts, answers and results' },
  ]
}

function suggestValues(
  key: FilterKey,
  partial: string,
  values: readonly { value: string; sessions: number }[],
): Suggestion[] {
  const choices = (key.choices ?? [])
    .filter((choice) => choice.startsWith(partial))
    .map((choice) => ({ value: choice, hint: '' }))
  const real = values.map(({ value, sessions }) => ({
    value,
    hint: countOf(sessions, 'session'),
  }))
  return [...choices, ...real].map(({ value, hint }) => ({
    kind: 'value',
    text: writeTerm(key.name, value),
    label: value,
    hint,
  }))
}
