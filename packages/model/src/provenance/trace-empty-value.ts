import { argumentsOf, lastNameIn, wordsOf } from '../session/problem.ts'
import { stepName, type Step } from '../session/step.ts'
import { isBefore, sourceOf, trailOf, type ArgumentOrigin, type Search } from './argument-origin.ts'
import { isEmptyValue, type EmptyResult } from './value-index.ts'

type Traced = Pick<ArgumentOrigin, 'origin' | 'isUncertain' | 'via' | 'trail'>

/** Finds the first step that returned nothing under a name that relates to this empty argument. */
export function traceEmptyValue(path: string, search: Search): Traced {
  return traceResults(path, search) ?? { origin: originOfCall(path, search), trail: trailOf([], search) }
}

/** As `traceEmptyValue`, for an argument that was not passed. */
export function traceMissing(path: string, search: Search): Traced {
  return traceResults(path, search) ?? { origin: { kind: 'unclaimed' }, trail: trailOf([], search) }
}

function traceResults(path: string, search: Search): Traced | undefined {
  const results = search.index.emptyResults.filter((result) => isBefore(result, search))
  const last = findEmptyResult(results, lastNameIn(path), search.steps)
  return last === undefined ? undefined : toTraced(followBack(last, results, search.steps), search)
}

/** A result that may explain an empty argument. */
type Explanation = { result: EmptyResult; isUncertain: boolean }

/** `chain`: the results that passed nothing on to each other, earliest first. */
function toTraced(chain: readonly Explanation[], search: Search): Traced {
  const { steps } = search
  const stops = chain.map(({ result }) => ({
    step: steps[result.position]!,
    number: result.position + 1,
    did: describeResult(result),
  }))
  return {
    origin: { kind: 'step', ...sourceOf(chain[0]!.result, steps) },
    ...(chain.some(({ isUncertain }) => isUncertain) && { isUncertain: true }),
    ...(chain.length > 1 && { via: sourceOf(chain.at(-1)!.result, steps) }),
    trail: trailOf(stops, search),
  }
}

function describeResult({ name, value }: EmptyResult): string {
  const isWord = typeof value === 'string' && value.trim() !== ''
  const text = isWord || value === undefined ? String(value) : JSON.stringify(value)
  return name === undefined ? `returned ${text}` : `returned ${name}=${text}`
}

/** The last earlier result whose name relates to the argument's. */
function findEmptyResult(
  results: readonly EmptyResult[],
  name: string | undefined,
  steps: readonly Step[],
): Explanation | undefined {
  if (name === undefined) return undefined
  for (const result of results.toReversed()) {
    const source = result.name ?? stepName(steps[result.position]!)
    const relation = relate(name, source, result.name !== undefined)
    if (relation === 'same') return { result, isUncertain: false }
    // An empty list is an answer; null is the lack of one.
    if (relation === 'similar' && isNullWord(result.value)) return { result, isUncertain: true }
  }
  return undefined
}

function isNullWord(value: unknown): boolean {
  return value === null || value === undefined || (typeof value === 'string' && value.trim() !== '')
}

/** A step whose own argument was empty only passed it on: goes back to the step that began it. */
function followBack(
  last: Explanation,
  results: readonly EmptyResult[],
  steps: readonly Step[],
): Explanation[] {
  const chain = [last]
  for (let hops = 0; hops < results.length; hops += 1) {
    const first = chain[0]!.result
    const step = steps[first.position]!
    const name = emptyArgument(step)
    if (name === undefined) break
    const before = results.filter(({ atMs, position }) => atMs <= step.offsetMs && position < first.position)
    const earlier = findEmptyResult(before, name, steps)
    if (earlier === undefined) break
    chain.unshift(earlier)
  }
  return chain
}

function emptyArgument(step: Step): string | undefined {
  const given = argumentsOf(step)
  if (typeof given !== 'object' || given === null) return undefined
  return Object.entries(given).find(([, value]) => isEmptyValue(value) && value !== undefined)?.[0]
}

/** The model wrote the empty value itself when its call has nothing under the name either. */
function originOfCall(argument: string, { call, steps, action }: Search): ArgumentOrigin['origin'] {
  if (call === undefined || !('arguments' in call)) return { kind: 'nowhere' }
  const name = lastNameIn(argument)
  const value = name === undefined ? undefined : (call.arguments as Record<string, unknown> | null)?.[name]
  const path = stepName(action)
  return isEmptyValue(value)
    ? { kind: 'model', ...sourceOf({ position: call.position, path }, steps) }
    : { kind: 'nowhere' }
}

/** Words that names of different things share. */
const genericWords: ReadonlySet<string> = new Set(
  `id ids uuid key name number no code value data info item items list type ref result output input text count index
  get find fetch read load list lookup search query resolve extract select check create make set update by for of from to
  the a an in on with is has new old current first last`.split(/\s+/),
)

/** Agents look up the same person under any of these words. */
const synonyms: ReadonlyMap<string, string> = new Map(
  ['account', 'client', 'user', 'member'].map((word) => [word, 'customer']),
)

/**
 * How a result relates to an argument, by their words. `extract_customer_id`, or a key `customerId`, is the same as
 * `customer_id`; `find_customer` is similar. Words that any name has, as in `id`, relate nothing.
 */
function relate(argument: string, source: string, isKey: boolean): 'same' | 'similar' | undefined {
  const [asked, given] = [wordsOf(argument), wordsOf(source)]
  const isTelling = (word: string) => !genericWords.has(word)
  const isSame = isKey
    ? asked.join(' ') === given.join(' ')
    : ` ${given.join(' ')} `.includes(` ${asked.join(' ')} `)
  if (isSame && asked.length > 0) return asked.some(isTelling) ? 'same' : 'similar'
  const meaning = (word: string) => synonyms.get(word) ?? word
  const meant = new Set(given.map(meaning))
  return asked.some((word) => isTelling(word) && meant.has(meaning(word))) ? 'similar' : undefined
}
