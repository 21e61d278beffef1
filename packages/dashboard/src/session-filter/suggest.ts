import { parseSessionIdPrefix } from '@playhead/model'
import { filterKeys, findFilterKey, type FilterKey } from './filter-keys.ts'
import { writeTerm } from './parse-filter.ts'

/** What is being typed: a value after a known key, or a word that may become one. */
export type Draft = { key: FilterKey; partial: string } | { key: undefined; word: string }

/** `commit`: the text is a whole term. Otherwise it is the beginning of one. */
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

/** Whether a space after it ends the term: `tag:x` does, words and open quotes go on. */
export function isWholeTerm(draft: string): boolean {
  const read = readDraft(draft)
  if (read.key === undefined || read.partial === '') return false
  const value = draft.slice(draft.indexOf(':') + 1)
  return !value.startsWith('"') || /^".*[^\\]"$/s.test(value)
}

/** What could be meant; `values` are the real ones of the key's field, as far as they are known. */
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
    { kind: 'words', text: word, label: word, hint: 'look for it in prompts, answers and results' },
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
    hint: `${sessions.toLocaleString('en')} ${sessions === 1 ? 'session' : 'sessions'}`,
  }))
  return [...choices, ...real].map(({ value, hint }) => ({
    kind: 'value',
    text: writeTerm(key.name, value),
    label: value,
    hint,
  }))
}
