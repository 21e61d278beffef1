import { describeValue } from '../format/visible-text.ts'
import { isRecord } from '../json/attribute-value.ts'

// TypeScript finds most wrong arguments, but many tests are JavaScript, and values come from files. Each check throws a
// sentence that names the argument; without it, the test would fail somewhere inside of Playhead.

/** More than any test needs; a list without an end is longer. */
export const MAX_ITEMS = 10_000

export function requireText(value: unknown, what: string): string {
  return typeof value === 'string' ? value : fail(what, 'must be a string', value)
}

/** Undefined is no options. Anything else that isn't an object is a mistake. */
export function requireOptions<Options extends object>(
  value: Options | undefined,
  what = 'The options',
): Options {
  if (value === undefined) return {} as Options
  return isRecord(value) ? value : fail(what, 'must be an object', value)
}

export function requireNumber(
  value: unknown,
  what: string,
  {
    min = -Infinity,
    max = Infinity,
    isWhole = false,
  }: { min?: number; max?: number; isWhole?: boolean } = {},
): number {
  const isInside = typeof value === 'number' && value >= min && value <= max
  if (isInside && (!isWhole || Number.isInteger(value))) return value
  const kind = isWhole ? 'a whole number' : 'a number'
  const from = min === -Infinity ? '' : max === Infinity ? ` of at least ${min}` : ` from ${min} to ${max}`
  return fail(what, `must be ${kind}${from}`, value)
}

export function requireList(value: unknown, what: string): readonly unknown[] {
  if (!Array.isArray(value)) return fail(what, 'must be a list', value)
  if (value.length > MAX_ITEMS) throw tooLong(what)
  return value
}

export function requireTexts(value: unknown, what: string): readonly string[] {
  return Array.from(requireList(value, what), (item) => requireText(item, `Each item of ${lowerFirst(what)}`))
}

/** Reads anything that `for…of` takes, except a string, whose letters are never meant. */
export function requireItems<Item>(value: Iterable<Item>, what: string): Item[] {
  if (!isIterable(value)) return fail(what, 'must be a list', value)
  const items: Item[] = []
  for (const item of value) {
    if (items.length === MAX_ITEMS) throw tooLong(what)
    items.push(item)
  }
  return items
}

/** What defines a test: a name and a function. */
export function requireTest(name: unknown, body: unknown): void {
  requireText(name, 'The name of the test')
  if (typeof body !== 'function') fail(`The body of the test "${String(name)}"`, 'must be a function', body)
}

export function requireOneOf<Choice extends string>(
  value: unknown,
  what: string,
  choices: readonly Choice[],
): Choice {
  const found = choices.find((choice) => choice === value)
  return found ?? fail(what, `must be one of ${choices.join(', ')}`, value)
}

/** What a test's own function returned: a promise would count as true, whatever it becomes. */
export function requireSync<Value>(result: Value, what: string): Value {
  // Not `instanceof`: jest runs tests in a realm of its own.
  if (Object.prototype.toString.call(result) !== '[object Promise]') return result
  void ignoreRejection(result as Promise<unknown>)
  throw new TypeError(`${what} must not be async: it returned a promise.`)
}

async function ignoreRejection(result: Promise<unknown>): Promise<void> {
  try {
    await result
  } catch {
    // The test is told that the promise is wrong, whatever it becomes.
  }
}

export function fail(what: string, must: string, value: unknown): never {
  throw new TypeError(`${what} ${must}, but it is ${describeGiven(value)}.`)
}

function tooLong(what: string): TypeError {
  return new TypeError(`${what} must have at most ${MAX_ITEMS.toLocaleString('en')} items.`)
}

function describeGiven(value: unknown): string {
  if (typeof value === 'function') return 'a function'
  return describeValue(value, 60)
}

function isIterable(value: unknown): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    Symbol.iterator in value &&
    typeof value[Symbol.iterator] === 'function'
  )
}

function lowerFirst(text: string): string {
  return text.slice(0, 1).toLowerCase() + text.slice(1)
}
