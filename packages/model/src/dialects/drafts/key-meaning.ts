import { allDialects } from '../all-dialects.ts'
import type { GroupName } from '../reading/dialect.ts'
import { fieldNames, isNumberField, isTextField, isTokenField, type FieldName } from '../reading/fields.ts'
import { parseKeyPath, type KeyPath } from '../reading/flattened-keys.ts'
import { looseParameterName, parameterName } from './parameter-name.ts'
import { guessField } from './unknown-keys.ts'

/** What one attribute key means, whatever its value. */
export type KeyMeaning = {
  /** The dialects that it is a sign of. */
  signs: number
  field: FieldName | undefined
  /** The field's number, for arrays by field. */
  slot: number
  /** Among the keys of one field the one of the lowest rank that has a value wins. */
  rank: number
  type: 'tokens' | 'number' | 'text' | 'value'
  group: GroupName | undefined
  path: KeyPath
}

type KnownKey = { field: FieldName; rank: number }

const GUESSED_RANK = 60_000
/** Keys come from strangers: the memory of them is bounded. */
const MAX_REMEMBERED = 8192
const noPath: KeyPath = []
const letter = /[a-z]/i

const slots = new Map(fieldNames.map((name, index) => [name, index]))
export const slotCount = fieldNames.length

const knownKeys = collectKnownKeys()
const groupPrefixes = allDialects.flatMap((dialect) => Object.entries(dialect.groups ?? {}))
const signPrefixes = allDialects.flatMap((dialect, index) =>
  (dialect.signs ?? []).map((prefix) => ({ prefix, bit: 1 << index })),
)
const scopePrefixes = allDialects.flatMap((dialect, index) =>
  (dialect.scopes ?? []).map((prefix) => ({ prefix, bit: 1 << index })),
)

const remembered = new Map<string, KeyMeaning>()
const rememberedScopes = new Map<string, number>()

export function meaningOf(key: string): KeyMeaning {
  let meaning = remembered.get(key)
  if (meaning === undefined) {
    meaning = workOut(key)
    if (remembered.size >= MAX_REMEMBERED) remembered.clear()
    remembered.set(key, meaning)
  }
  return meaning
}

/** The dialects that an instrumentation scope's name is a sign of. */
export function signsOfScope(scope: string): number {
  let signs = rememberedScopes.get(scope)
  if (signs === undefined) {
    signs = 0
    for (const { prefix, bit } of scopePrefixes) if (isScope(scope, prefix)) signs |= bit
    if (rememberedScopes.size >= MAX_REMEMBERED) rememberedScopes.clear()
    rememberedScopes.set(scope, signs)
  }
  return signs
}

/** After a whole word a scope's name goes on with anything but a letter: `ai` is not the beginning of `airflow`. */
function isScope(scope: string, prefix: string): boolean {
  if (!scope.startsWith(prefix)) return false
  return !letter.test(prefix.at(-1)!) || !letter.test(scope.charAt(prefix.length))
}

function workOut(key: string): KeyMeaning {
  let signs = 0
  for (const { prefix, bit } of signPrefixes) if (key.startsWith(prefix)) signs |= bit
  const known = knownKeys.get(key)
  if (known !== undefined) return meaningOfField(signs, known)
  for (const [prefix, group] of groupPrefixes) {
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

/** Names of metadata and parameters may have dots in them. */
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

function collectKnownKeys(): Map<string, KnownKey> {
  const keys = new Map<string, KnownKey>()
  allDialects.forEach((dialect, dialectIndex) => {
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
