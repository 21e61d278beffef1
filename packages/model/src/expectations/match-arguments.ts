import { describeValue } from '../format/visible-text.ts'
import {
  fail,
  requireList,
  requireOneOf,
  requireOptions,
  requireSync,
  requireTexts,
} from './required-argument.ts'
import { readingsOf, type Position } from './argument-positions.ts'

/** `partial` allows additional arguments, `exact` does not. */
export type ArgumentMode = 'partial' | 'exact'

/** Arguments by name, by position, or a predicate. */
export type ExpectedArguments =
  | readonly unknown[]
  | { readonly [name: string]: unknown }
  | ((args: never) => boolean)

export type ArgumentOptions = {
  mode?: ArgumentMode | undefined
  /** Names or paths to ignore, with `*` as a wildcard: `*_id`, `customer.address`, `items.*.key`. */
  ignore?: readonly string[] | undefined
  /** Default values by name or path: omitting the argument matches its default. */
  defaults?: { readonly [path: string]: unknown } | undefined
}

/** Throws a sentence if arguments can't be compared with these. */
export function requireArguments(
  expected: unknown,
  { mode, ignore, defaults }: { [Name in keyof ArgumentOptions]: unknown },
): void {
  if (Array.isArray(expected)) requireList(expected, 'The expected arguments')
  else if (expected !== undefined && typeof expected !== 'function' && !isObject(expected))
    fail('The expected arguments', 'must be a list, an object or a function', expected)
  if (mode !== undefined) requireOneOf(mode, 'The mode', ['partial', 'exact'])
  if (ignore !== undefined) requireTexts(ignore, 'The option ignore')
  requireOptions(defaults as object | undefined, 'The option defaults')
}

/** The first argument that differs. */
export type Mismatch = { path: string; expected: string; actual: string }

/** Compares the arguments of a call with the expected ones; undefined when they match. */
export function findMismatch(
  actual: unknown,
  expected: ExpectedArguments,
  options: ArgumentOptions = {},
): Mismatch | undefined {
  const comparison = new Comparison(options)
  if (typeof expected === 'function')
    return requireSync((expected as (args: unknown) => boolean)(actual), PREDICATE)
      ? undefined
      : mismatch('args', 'the function to return true', actual)
  if (Array.isArray(expected)) return findInReadings(comparison, actual, expected)
  return comparison.named(actual, expected as Plain)
}

/** Compares with each reading of the arguments until one matches. A grouped reading explains a mismatch best. */
function findInReadings(
  comparison: Comparison,
  actual: unknown,
  expected: readonly unknown[],
): Mismatch | undefined {
  const found: { mismatch: Mismatch; isGrouped: boolean }[] = []
  let thrown: { error: unknown } | undefined
  for (const reading of readingsOf(actual, expected)) {
    try {
      const mismatch = comparison.positional(reading, expected)
      if (mismatch === undefined) return undefined
      found.push({ mismatch, isGrouped: reading.some(({ name }) => name === '') })
    } catch (error) {
      // A predicate was written for another reading, unless none matches.
      thrown ??= { error }
    }
  }
  if (found.length === 0 && thrown !== undefined) throw thrown.error
  return (found.find(({ isGrouped }) => isGrouped) ?? found[0])?.mismatch
}

type Plain = { readonly [name: string]: unknown }

/** Replaces a positional index by the parameter's name, where known. */
function withName(found: Mismatch, reading: readonly Position[]): Mismatch {
  const [index = '', ...rest] = found.path.split('.')
  const name = reading[Number(index)]?.name ?? index
  return { ...found, path: [...(name === '' ? [] : [name]), ...rest].join('.') }
}

class Comparison {
  readonly #isExact: boolean
  readonly #ignored: readonly RegExp[]
  readonly #defaults: Plain

  constructor({ mode, ignore = [], defaults = {} }: ArgumentOptions) {
    this.#isExact = mode === 'exact'
    this.#ignored = ignore.map(toPattern)
    this.#defaults = defaults
  }

  positional(actual: readonly Position[], expected: readonly unknown[]): Mismatch | undefined {
    if (this.#isExact && actual.length > expected.length)
      return mismatch(
        '',
        `${expected.length} arguments`,
        actual.map(({ value }) => value),
      )
    for (const [index, value] of expected.entries()) {
      const found = this.#value(actual[index]?.value, value, String(index))
      if (found !== undefined) return withName(found, actual)
    }
    return undefined
  }

  /** Also accepts positions as names, `{ 0: "c_42" }`, and the properties of an only argument in place of its name. */
  named(given: unknown, expected: Plain): Mismatch | undefined {
    const actual = openOnlyArgument(given, expected)
    if (!isObject(actual) && !Array.isArray(actual)) {
      const areBothEmpty = Object.keys(expected).length === 0 && actual === undefined
      return areBothEmpty ? undefined : mismatch('', describe(expected), actual)
    }
    const values = Object.values(actual)
    const named: { [name: string]: unknown } = Object.fromEntries(Object.entries(actual))
    for (const name of Object.keys(expected))
      if (!Object.hasOwn(named, name) && /^\d+$/.test(name) && Number(name) < values.length) {
        named[name] = values[Number(name)]
        delete named[Object.keys(actual)[Number(name)]!]
      }
    return this.#object(named, expected, '')
  }

  #value(actual: unknown, expected: unknown, path: string): Mismatch | undefined {
    if (this.#isIgnored(path) || isMatching(expected, actual)) return undefined
    if (actual === undefined && this.#isDefault(path, expected)) return undefined
    if (Array.isArray(expected)) return this.#list(actual, expected, path)
    if (isObject(expected) && !isAsymmetric(expected)) {
      if (!isObject(actual)) return mismatch(path, describe(expected), actual)
      return this.#object(actual, expected, path)
    }
    return mismatch(path, describe(expected), actual)
  }

  #list(actual: unknown, expected: readonly unknown[], path: string): Mismatch | undefined {
    if (!Array.isArray(actual) || actual.length !== expected.length)
      return mismatch(path, describe(expected), actual)
    for (const [index, value] of expected.entries()) {
      const found = this.#value(actual[index], value, `${path}.${index}`)
      if (found !== undefined) return found
    }
    return undefined
  }

  #object(actual: Plain, expected: Plain, path: string): Mismatch | undefined {
    for (const [name, value] of Object.entries(expected)) {
      if (value === undefined) continue
      const found = this.#value(
        Object.hasOwn(actual, name) ? actual[name] : undefined,
        value,
        join(path, name),
      )
      if (found !== undefined) return found
    }
    return this.#isExact ? this.#findExtra(actual, expected, path) : undefined
  }

  #findExtra(actual: Plain, expected: Plain, path: string): Mismatch | undefined {
    for (const [name, value] of Object.entries(actual)) {
      const place = join(path, name)
      if (value === undefined || expected[name] !== undefined) continue
      if (!this.#isIgnored(place) && !this.#isDefault(place, value)) return mismatch(place, 'nothing', value)
    }
    return undefined
  }

  #isIgnored(path: string): boolean {
    const name = path.slice(path.lastIndexOf('.') + 1)
    return this.#ignored.some((pattern) => pattern.test(path) || pattern.test(name))
  }

  #isDefault(path: string, value: unknown): boolean {
    if (!Object.hasOwn(this.#defaults, path)) return false
    return new Comparison({ mode: 'exact' }).#value(value, this.#defaults[path], path) === undefined
  }
}

const PREDICATE = 'A function that checks arguments'

/** Compares everything but lists and objects. */
function isMatching(expected: unknown, actual: unknown): boolean {
  if (isAsymmetric(expected)) return requireSync(expected.asymmetricMatch(actual), 'A matcher of arguments')
  if (expected instanceof RegExp) return typeof actual === 'string' && actual.search(expected) !== -1
  if (typeof expected === 'function')
    return requireSync((expected as (value: unknown) => boolean)(actual), PREDICATE)
  if (expected instanceof Date) return actual === expected.toJSON()
  if (typeof expected === 'bigint') return String(actual) === String(expected)
  // JSON does not tell a missing value from null.
  if (expected === undefined || expected === null) return actual === undefined || actual === null
  return Object.is(expected, actual) || (expected === 0 && actual === 0)
}

type Asymmetric = { asymmetricMatch(value: unknown): boolean }

/** Recognizes `expect.any(String)` and the like from any test runner. */
function isAsymmetric(value: unknown): value is Asymmetric {
  return typeof (value as Asymmetric | null | undefined)?.asymmetricMatch === 'function'
}

function isObject(value: unknown): value is Plain {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** `(order) => …` and `({ invoice }) => …` are called the same way, so both match `{ invoice: "INV-7" }`. */
function openOnlyArgument(actual: unknown, expected: Plain): unknown {
  const [only, ...others] = isObject(actual) ? Object.entries(actual) : []
  if (only === undefined || others.length > 0 || !isObject(only[1])) return actual
  const names = Object.keys(expected)
  const [name, value] = only
  const namesArgument = names.some((key) => key === name || /^\d+$/.test(key))
  return namesArgument || !names.some((key) => Object.hasOwn(value, key)) ? actual : value
}

function toPattern(glob: string): RegExp {
  const source = glob
    .split('**')
    .map((part) => part.split('*').map(escapeText).join('[^.]*'))
    .join('.*')
  return new RegExp(`^${source}$`)
}

function escapeText(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\/-]/g, String.raw`\$&`)
}

function join(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`
}

function mismatch(path: string, expected: string, actual: unknown): Mismatch {
  return { path, expected, actual: actual === undefined ? 'nothing' : describe(actual) }
}

/** Describes an expected value; patterns and matchers in it are shown by name. */
export function describe(value: unknown, width = 80): string {
  if (typeof value === 'function' || value instanceof RegExp || isAsymmetric(value))
    return String(nameOf(value))
  return describeValue(toPrintable(value, 0), width)
}

/** More don't fit on the line. */
const MAX_SHOWN = 50

function toPrintable(value: unknown, depth: number): unknown {
  const name = nameOf(value)
  if (name !== undefined || depth > 6) return name
  if (Array.isArray(value)) return value.slice(0, MAX_SHOWN).map((item) => toPrintable(item, depth + 1))
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, MAX_SHOWN)
      .map(([key, item]) => [key, toPrintable(item, depth + 1)]),
  )
}

function nameOf(value: unknown): string | undefined {
  if (value instanceof RegExp) return String(value)
  if (typeof value === 'function') return 'a value accepted by the function'
  if (!isAsymmetric(value)) return undefined
  const { toAsymmetricMatcher } = value as { toAsymmetricMatcher?: () => string }
  return typeof toAsymmetricMatcher === 'function' ? toAsymmetricMatcher.call(value) : 'a match'
}
