import { isRecord } from '../json/attribute-value.ts'
import { parseJson } from '../json/json-text.ts'
import { hasFailed } from './failure.ts'
import type { Step } from './step.ts'

/** An argument that may have made an action fail. `value` is undefined when the argument was not passed. */
export type ArgumentProblem = { path: string; value: unknown; why: string }

const MAX_NESTING = 6
const MAX_VALUES = 2000
const MAX_MESSAGE_LENGTH = 4000

/**
 * Finds the suspicious arguments of a failed action: null, empty or missing values. If the error message names
 * arguments, only those count.
 */
export function findProblems(step: Step): ArgumentProblem[] {
  if (step.kind !== 'action' || !hasFailed(step)) return []
  const given = argumentsOf(step)
  const message = errorText(step)
  const found: Suspicion[] = []
  collect(given, '', { found, looked: 0 })
  const named = found.filter((suspicion) => isNamed(suspicion.path, message))
  const missing = findMissing(given, message)
  if (named.length > 0 || missing.length > 0) return [...named, ...missing].map(toProblem)
  const strong = found.filter((suspicion) => !suspicion.isWeak)
  return (strong.length > 0 || isCrowded(given) ? strong : found).map(toProblem)
}

/** The arguments of an action. Parses JSON text and joins Python's args and kwargs. */
export function argumentsOf(step: Step): unknown {
  const given = parseJson(step.tool?.arguments === undefined ? step.input : step.tool.arguments)
  if (!isRecord(given) || !isPythonCall(given)) return given
  const args = Array.isArray(given.args) ? given.args : []
  const kwargs = isRecord(given.kwargs) ? given.kwargs : {}
  if (args.length === 0) return kwargs
  if (Object.keys(kwargs).length === 0) return args
  return { ...Object.fromEntries(args.map((value, index) => [String(index), value])), ...kwargs }
}

type Suspicion = ArgumentProblem & { isWeak: boolean }

function toProblem({ path, value, why }: ArgumentProblem): ArgumentProblem {
  return { path, value, why }
}

function isPythonCall(given: { [key: string]: unknown }): boolean {
  const keys = Object.keys(given)
  return keys.length > 0 && keys.every((key) => key === 'args' || key === 'kwargs')
}

function collect(value: unknown, path: string, search: { found: Suspicion[]; looked: number }): void {
  search.looked += 1
  if (search.looked > MAX_VALUES) return
  const why = suspect(value)
  if (why !== undefined) {
    // An action without parameters has no input.
    if (path !== '' || value === null)
      search.found.push({ path, value, why, isWeak: typeof value === 'object' && value !== null })
    return
  }
  if (typeof value !== 'object' || value === null) return
  if (path.split(/[.[]/).length > MAX_NESTING) return
  for (const [key, item] of Object.entries(value))
    collect(item, Array.isArray(value) ? `${path}[${key}]` : joinPath(path, key), search)
}

function joinPath(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`
}

function suspect(value: unknown): string | undefined {
  if (value === undefined) return 'undefined was passed'
  if (value === null) return 'null was passed'
  if (typeof value === 'number') return Number.isNaN(value) ? 'NaN was passed' : undefined
  if (typeof value === 'string') return suspectText(value)
  if (typeof value !== 'object') return undefined
  if (Object.keys(value).length > 0) return undefined
  return Array.isArray(value) ? 'an empty list was passed' : 'an empty object was passed'
}

function suspectText(value: string): string | undefined {
  const text = value.trim()
  if (text === '') return 'an empty string was passed'
  if (/^(null|undefined|none|nan|\[object object\])$/i.test(text)) return `the string "${text}" was passed`
  return undefined
}

function errorText(step: Step): string {
  const texts: string[] = []
  let error = step.error
  for (let depth = 0; error !== undefined && depth < 5; depth += 1) {
    texts.push(error.message)
    error = error.cause
  }
  return texts.join('\n').slice(0, MAX_MESSAGE_LENGTH)
}

/** True when the message contains the argument's name as a word, in any case style. */
function isNamed(path: string, message: string): boolean {
  const name = lastNameIn(path)
  if (name === undefined || name.length < 2) return false
  return message.match(/[A-Za-z0-9_$]+/g)?.some((word) => isSameName(word, name)) ?? false
}

/** `id` in `orders[2].id`. */
export function lastNameIn(path: string): string | undefined {
  return path.split(/[.[\]]/).findLast((part) => part !== '' && !/^\d+$/.test(part))
}

/** True for `customer_id` and `customerId`, and for `id` as the last word of both. */
function isSameName(one: string, other: string): boolean {
  const [short = [], long = []] = [wordsOf(one), wordsOf(other)].sort((a, b) => a.length - b.length)
  return short.length > 0 && short.every((word, index) => word === long.at(index - short.length))
}

/** The words of a name in any case style, in lower case. */
export function wordsOf(name: string): string[] {
  return name.match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+/g)?.map((word) => word.toLowerCase()) ?? []
}

const identifier = String.raw`["'\`]?([A-Za-z_$][A-Za-z0-9_$.]*)["'\`]?`
const lackPhrases = [
  // "missing 1 required positional argument: 'customer_id'", "must have required property 'customer_id'"
  String.raw`(?:missing|required)\b[^\n:]{0,60}?\b(?:argument|parameter|field|property|key)s?:?\s+${identifier}`,
  // "customer_id is required", "'customer_id' is a required property"
  String.raw`${identifier}\s+(?:is|are)\s+(?:a\s+)?(?:required|missing|undefined|not defined)\b(?!\s+(?:to|for|by)\b)`,
  String.raw`${identifier}\s+(?:must|should)\s+be\s+(?:provided|set|given|specified)\b`,
  // "customer_id cannot be None", "customer_id must not be null"
  String.raw`${identifier}\s+(?:cannot|can't|can not|must not|may not|should not)\s+be\s+(?:null|none|undefined|empty|blank|missing)\b`,
  // Zod's issues and Pydantic's "customer_id\n  Field required"
  String.raw`"path"\s*:\s*\[\s*"([^"\]]+)"\s*\]`,
  String.raw`^([A-Za-z_][\w.]*)\n\s+Field required`,
].map((phrase) => new RegExp(phrase, 'gim'))
/** Words that look like names in "This field is required". */
const notNames: ReadonlySet<string> = new Set(
  'it this that field value argument parameter property key input which and or is a the what'.split(' '),
)

/** Arguments that the error message requires and that were not passed. */
function findMissing(given: unknown, message: string): Suspicion[] {
  // Arguments that were not recorded are unknown, not missing.
  if (!isRecord(given)) return []
  const names = new Set<string>()
  for (const phrase of lackPhrases)
    for (const match of message.matchAll(phrase))
      if (match[1] !== undefined) names.add(match[1].replace(/\.$/, ''))
  const missing: Suspicion[] = []
  for (const name of names) {
    if (notNames.has(name.toLowerCase()) || hasPath(given, name)) continue
    missing.push({
      path: name,
      value: undefined,
      why: 'the error requires it, but it was not passed',
      isWeak: false,
    })
  }
  return missing
}

function hasPath(given: unknown, path: string): boolean {
  let value = given
  for (const name of path.split('.')) {
    if (!isRecord(value)) return false
    const key = Object.hasOwn(value, name)
      ? name
      : Object.keys(value).find((other) => isSameName(name, other))
    if (key === undefined) return false
    value = value[key]
  }
  return true
}

function isCrowded(given: unknown): boolean {
  return typeof given === 'object' && given !== null && Object.keys(given).length > 1
}
