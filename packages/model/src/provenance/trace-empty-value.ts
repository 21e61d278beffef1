import { argumentsOf, lastNameIn } from '../session/problem.ts'
import { stepName, type Step } from '../session/step.ts'
import { isBefore, sourceOf, trailOf, type ArgumentOrigin, type Search } from './argument-origin.ts'
import { isEmptyValue, type EmptyResult } from './value-index.ts'

type Traced = Pick<ArgumentOrigin, 'origin' | 'via' | 'trail'>

/** Finds the first step that returned nothing where this argument has nothing. */
export function traceEmptyValue(path: string, search: Search): Traced {
  const name = lastNameIn(path)
  const results = emptyResultsBefore(search)
  const last = findEmptyResult(results, name, search.steps)
  if (last === undefined) return { origin: originOfCall(name, search), trail: trailOf([], search) }
  return toTraced(followBack(last, results, search.steps), search)
}

/** As `traceEmptyValue`, for an argument that was not passed: only a result of the same name can explain that. */
export function traceMissing(path: string, search: Search): Traced {
  const name = lastNameIn(path)
  const results = emptyResultsBefore(search)
  const last = results.findLast((result) => isRelated(result, name, search.steps[result.position]!))
  if (last === undefined) return { origin: { kind: 'unclaimed' }, trail: trailOf([], search) }
  return toTraced(followBack(last, results, search.steps), search)
}

function emptyResultsBefore(search: Search): EmptyResult[] {
  return search.index.emptyResults.filter((result) => isBefore(result, search))
}

/** `chain`: the results that passed nothing on to each other, earliest first. */
function toTraced(chain: readonly EmptyResult[], search: Search): Traced {
  const { steps } = search
  const stops = chain.map((result) => ({
    step: steps[result.position]!,
    number: result.position + 1,
    did: describeResult(result),
  }))
  return {
    origin: { kind: 'step', ...sourceOf(chain[0]!, steps) },
    ...(chain.length > 1 && { via: sourceOf(chain.at(-1)!, steps) }),
    trail: trailOf(stops, search),
  }
}

function describeResult({ name, value }: EmptyResult): string {
  const isWord = typeof value === 'string' && value.trim() !== ''
  const text = isWord || value === undefined ? String(value) : JSON.stringify(value)
  return name === undefined ? `returned ${text}` : `returned ${name}=${text}`
}

/**
 * The last earlier result that is related to the argument, by its name or because a lookup found nothing; otherwise the
 * last that was empty as a whole, because some steps never return anything.
 */
function findEmptyResult(
  results: readonly EmptyResult[],
  name: string | undefined,
  steps: readonly Step[],
): EmptyResult | undefined {
  const related = results.findLast((result) => {
    const step = steps[result.position]!
    return isRelated(result, name, step) || (result.name === undefined && isLookup(step))
  })
  return related ?? results.findLast((result) => result.name === undefined)
}

function isLookup({ kind, effect }: Step): boolean {
  return effect === 'read' || kind === 'retrieval'
}

/** A step whose own argument was empty only passed it on: goes back to the step that began it. */
function followBack(
  last: EmptyResult,
  results: readonly EmptyResult[],
  steps: readonly Step[],
): EmptyResult[] {
  const chain = [last]
  for (let hops = 0; hops < results.length; hops += 1) {
    const first = chain[0]!
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
function originOfCall(name: string | undefined, { call, steps, action }: Search): ArgumentOrigin['origin'] {
  if (call === undefined || !('arguments' in call)) return { kind: 'nowhere' }
  const value = name === undefined ? undefined : (call.arguments as Record<string, unknown> | null)?.[name]
  const path = stepName(action)
  return isEmptyValue(value)
    ? { kind: 'model', ...sourceOf({ position: call.position, path }, steps) }
    : { kind: 'nowhere' }
}

/** `extract_customer_id` returned null, or a step returned `{ customerId: null }`: both are related to `customer_id`. */
function isRelated({ name: key }: EmptyResult, name: string | undefined, step: Step): boolean {
  if (name === undefined) return false
  return key === undefined ? flat(step.name).includes(flat(name)) : flat(key) === flat(name)
}

function flat(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
}
