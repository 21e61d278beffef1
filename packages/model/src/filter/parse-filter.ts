import { filterKeys, findFilterKey, type FilterKey } from './filter-keys.ts'

/** One part of a filter: `key:value`, or words to search for. */
export type FilterTerm = {
  /** Undefined: words to search for in the steps. */
  key: FilterKey | undefined
  value: string
  /** As it was typed. */
  text: string
  /** Why the term is ignored. */
  problem?: string
}

export type ParsedFilter = {
  terms: FilterTerm[]
  /** The query parameters of the API, without invalid terms. */
  parameters: Record<string, string | string[]>
}

const MOST_TEXT = 400

/** Parses `status:fail tool:search cost:>0.01 "charged twice"`. Never throws: invalid terms have a `problem`. */
export function parseFilter(text: string): ParsedFilter {
  const terms = checkTogether(joinWords(tokenize(text).map(readToken)))
  const parameters: Record<string, string | string[]> = {}
  for (const { key, value, problem } of terms) {
    if (problem !== undefined) continue
    if (key === undefined) parameters.text = [parameters.text, value].filter(Boolean).join(' ')
    else if (key.isRepeatable) parameters[key.parameter] = [parameters[key.parameter] ?? [], value].flat()
    else parameters[key.parameter] = value
  }
  return { terms, parameters }
}

/** A term as text; values with spaces or quotes are quoted. */
export function writeTerm(key: string, value: string): string {
  return `${key}:${writeValue(value)}`
}

export function writeValue(value: string): string {
  return value === '' || /[\s"]/.test(value) ? `"${value.replaceAll(/["\\]/g, String.raw`\$&`)}"` : value
}

/** Adds a term, unless the filter has it already. */
export function addTerm(filter: string, term: string): string {
  const { terms } = parseFilter(filter)
  return terms.some(({ text }) => text === term) ? filter : `${filter} ${term}`.trim()
}

export function removeTerm(filter: string, index: number): string {
  const { terms } = parseFilter(filter)
  return terms
    .filter((_, at) => at !== index)
    .map(({ text }) => text)
    .join(' ')
}

/** Splits at spaces outside quotes. */
function tokenize(text: string): string[] {
  return text.match(/(?:[^\s"]+:)?"(?:\\.|[^"\\])*(?:"|$)|[^\s"]+/g) ?? []
}

function readToken(text: string): FilterTerm {
  const [, typedKey, rest] = /^(-?[A-Za-z_.]+):(?!\/\/)(.*)$/s.exec(text) ?? []
  const { value, isClosed } = unquote(rest ?? text)
  if (!isClosed) return { key: undefined, value, text, problem: `${text} has no closing quote.` }
  if (typedKey === undefined) return { key: undefined, value, text }
  const key = findFilterKey(typedKey)
  if (key === undefined) return { key: undefined, value, text, problem: unknownKey(typedKey, text) }
  if (value === '')
    return { key, value, text, problem: `${key.name}: needs a value, for example ${exampleOf(key)}.` }
  const problem = key.check?.(value)
  return { key, value, text, ...(problem !== undefined && { problem }) }
}

function unquote(text: string): { value: string; isClosed: boolean } {
  if (!text.startsWith('"')) return { value: text, isClosed: true }
  const isClosed = text.length > 1 && /(?<!\\)(?:\\\\)*"$/.test(text.slice(1))
  const inner = text.slice(1, isClosed ? -1 : undefined)
  return { value: inner.replaceAll(/\\(["\\])/g, '$1'), isClosed }
}

function unknownKey(typed: string, text: string): string {
  if (typed.startsWith('-')) return `${text}: filters can't exclude; they only include.`
  const near = filterKeys.find(({ name }) => name.toLowerCase().startsWith(typed.slice(0, 3).toLowerCase()))
  const hint = near === undefined ? '' : ` Did you mean ${near.name}:?`
  return `There is no filter “${typed}”.${hint} To search for these words, put them in quotes.`
}

function exampleOf({ name, choices }: FilterKey): string {
  return `${name}:${choices?.[0] ?? '…'}`
}

/** Consecutive plain words are one term. */
function joinWords(terms: readonly FilterTerm[]): FilterTerm[] {
  const joined: FilterTerm[] = []
  for (const term of terms) {
    const last = joined.at(-1)
    if (last !== undefined && isPlainWords(last) && isPlainWords(term)) {
      joined[joined.length - 1] = {
        ...last,
        value: `${last.value} ${term.value}`,
        text: `${last.text} ${term.text}`,
      }
    } else joined.push(term)
  }
  return joined
}

function isPlainWords({ key, text, problem }: FilterTerm): boolean {
  return key === undefined && problem === undefined && !text.startsWith('"')
}

/** Checks that involve several terms. */
function checkTogether(terms: readonly FilterTerm[]): FilterTerm[] {
  const seen = new Set<string>()
  let textLength = 0
  return terms.map((term) => {
    const { key, problem } = term
    if (problem !== undefined) return term
    if (key === undefined) {
      textLength += term.value.length + 1
      return textLength > MOST_TEXT + 1
        ? { ...term, problem: `You can search for at most ${MOST_TEXT} characters.` }
        : term
    }
    if (!key.isRepeatable && seen.has(key.name))
      return { ...term, problem: `${key.name}: can be used only once.` }
    seen.add(key.name)
    return term
  })
}
