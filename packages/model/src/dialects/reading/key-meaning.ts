import type { Dialect, GroupName } from './dialect.ts'
import { fieldNames, isNumberField, isTextField, isTokenField, type FieldName } from './fields.ts'
import { parseKeyPath, type KeyPath } from './flattened-keys.ts'
import { looseParameterName, parameterName } from './parameter-name.ts'
import { guessField } from './unknown-keys.ts'

/** The meaning of an attribute key. */
export type KeyMeaning = {
  /** The dialects that the key is a sign of. */
  signs: number
  field: FieldName | undefined
  /** The index of the field. */
  slot: number
  /** Among the keys of one field, the lowest rank with a value wins. */
  rank: number
  type: 'tokens' | 'number' | 'text' | 'value'
  group: GroupName | undefined
  path: KeyPath
}

type KnownKey = { field: FieldName; rank: number }

const GUESSED_RANK = 60_000
/** Keys come from strangers, so the caches are bounded. */
const MAX_CACHED = 8192
const noPath: KeyPath = []
const letter = /[a-z]/i

const slots = new Map(fieldNames.map((name, index) => [name, index]))
export const slotCount = fieldNames.length

/**
 * Finds the meaning of keys and scope names for a list of dialects. Results are cached, because senders repeat their
 * keys.
 */
export class KeyMeanings {
  readonly #knownKeys: ReadonlyMap<string, KnownKey>
  readonly #groups: readonly [prefix: string, group: GroupName][]
  readonly #signs: readonly Sign[]
  readonly #scopes: readonly Sign[]
  readonly #meanings = new Map<string, KeyMeaning>()
  readonly #signsOfScopes = new Map<string, number>()

  constructor(dialects: readonly Dialect[]) {
    this.#knownKeys = collectKnownKeys(dialects)
    this.#groups = dialects.flatMap((dialect) => Object.entries(dialect.groups ?? {}))
    this.#signs = dialects.flatMap((dialect, index) => toSigns(dialect.signs, index))
    this.#scopes = dialects.flatMap((dialect, index) => toSigns(dialect.scopes, index))
  }

  meaningOf(key: string): KeyMeaning {
    let meaning = this.#meanings.get(key)
    if (meaning === undefined) {
      meaning = this.#workOut(key)
      if (this.#meanings.size >= MAX_CACHED) this.#meanings.clear()
      this.#meanings.set(key, meaning)
    }
    return meaning
  }

  /** The dialects that an instrumentation scope's name is a sign of. */
  signsOfScope(scope: string): number {
    let signs = this.#signsOfScopes.get(scope)
    if (signs === undefined) {
      signs = 0
      for (const { prefix, bit } of this.#scopes) if (isScope(scope, prefix)) signs |= bit
      if (this.#signsOfScopes.size >= MAX_CACHED) this.#signsOfScopes.clear()
      this.#signsOfScopes.set(scope, signs)
    }
    return signs
  }

  #workOut(key: string): KeyMeaning {
    let signs = 0
    for (const { prefix, bit } of this.#signs) if (key.startsWith(prefix)) signs |= bit
    const known = this.#knownKeys.get(key)
    if (known !== undefined) return meaningOfField(signs, known)
    for (const [prefix, group] of this.#groups) {
      if (!key.startsWith(prefix)) continue
      const rest = key.slice(prefix.length)
      const path = pathIn(group, rest)
      if (path === undefined && group === 'looseParameters') continue
      return path === undefined ? meaningless(signs) : { ...meaningless(signs), group, path }
    }
    const guessed = guessField(key)
    if (guessed !== undefined) return meaningOfField(signs, { field: guessed, rank: GUESSED_RANK })
    return meaningless(signs)
  }
}

type Sign = { prefix: string; bit: number }

function toSigns(prefixes: readonly string[] = [], index: number): Sign[] {
  return prefixes.map((prefix) => ({ prefix, bit: 1 << index }))
}

/** A prefix that ends in a letter must be a whole word: `ai` does not match `airflow`. */
function isScope(scope: string, prefix: string): boolean {
  if (!scope.startsWith(prefix)) return false
  return !letter.test(prefix.at(-1)!) || !letter.test(scope.charAt(prefix.length))
}

function meaningless(signs: number): KeyMeaning {
  return { signs, field: undefined, slot: 0, rank: 0, type: 'value', group: undefined, path: noPath }
}

function meaningOfField(signs: number, { field, rank }: KnownKey): KeyMeaning {
  const type = typeOf(field)
  return { signs, field, slot: slots.get(field)!, rank, type, group: undefined, path: noPath }
}

function typeOf(field: FieldName): KeyMeaning['type'] {
  if (isTokenField(field)) return 'tokens'
  if (isNumberField(field)) return 'number'
  return isTextField(field) ? 'text' : 'value'
}

/** Names of metadata and parameters may contain dots. */
function pathIn(group: GroupName, rest: string): KeyPath | undefined {
  const path = parseKeyPath(rest)
  if (path === undefined) return undefined
  switch (group) {
    case 'metadata':
    case 'sessionMetadata':
      return [rest]
    case 'parameters':
      return named(parameterName(rest))
    case 'looseParameters':
      return named(looseParameterName(rest))
    default:
      return path
  }
}

function named(name: string | undefined): KeyPath | undefined {
  return name === undefined ? undefined : [name]
}

function collectKnownKeys(dialects: readonly Dialect[]): Map<string, KnownKey> {
  const keys = new Map<string, KnownKey>()
  dialects.forEach((dialect, dialectIndex) => {
    for (const table of [dialect.numbers, dialect.texts, dialect.values]) {
      for (const [field, names] of Object.entries(table ?? {})) {
        names.forEach((name, index) => {
          if (!keys.has(name)) keys.set(name, { field: field as FieldName, rank: dialectIndex * 100 + index })
        })
      }
    }
  })
  return keys
}
