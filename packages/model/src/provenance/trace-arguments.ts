import { argumentsOf } from '../session/problem.ts'
import type { Step } from '../session/step.ts'
import { isNothing, isTelling } from './common-values.ts'
import { isBefore, sourceOf, type Search } from './argument-search.ts'
import { traceNothing } from './trace-nothing.ts'
import { ValueIndex, type Appearance } from './value-index.ts'
import type { ArgumentOrigin, ValueOrigin } from './value-origin.ts'

const MOST_ORIGINS = 60
const DEEPEST = 6

/** Tells for each argument of an action where its value came from; for steps that have their payloads. */
export type ArgumentTracer = (action: Step) => ArgumentOrigin[]

/** Reads the steps of a session once; then any of its actions can be asked about. */
export function createArgumentTracer(steps: readonly Step[]): ArgumentTracer {
  const index = new ValueIndex(steps)
  const positions = new Map(steps.map((step, position) => [step.id, position]))
  const parents = new Map(steps.map(({ id, parentId }) => [id, parentId]))
  return (action) => {
    const position = positions.get(action.id)
    if (action.kind !== 'action' || position === undefined) return []
    const search: Search = { steps, index, action, position, above: ancestorsOf(action, parents), found: [] }
    trace(argumentsOf(action), '', search, 0)
    return search.found
  }
}

function ancestorsOf({ id }: Step, parents: ReadonlyMap<string, string | null>): Set<string> {
  const above = new Set<string>()
  let parent = parents.get(id)
  while (parent !== undefined && parent !== null && !above.has(parent)) {
    above.add(parent)
    parent = parents.get(parent)
  }
  return above
}

function trace(value: unknown, path: string, search: Search, depth: number): void {
  if (search.found.length >= MOST_ORIGINS) return
  if (isNothing(value)) {
    if (path !== '' && value !== undefined) search.found.push({ path, value, ...traceNothing(path, search) })
    return
  }
  if (typeof value !== 'object' || value === null) {
    search.found.push({ path, value, ...traceValue(value, search) })
    return
  }
  const whole = path === '' ? [] : search.index.find(value).filter((place) => isBefore(place, search))
  if (whole.length > 0 || depth >= DEEPEST) {
    search.found.push({ path, value, ...toOrigin(whole, search) })
    return
  }
  for (const [key, item] of Object.entries(value))
    trace(
      item,
      Array.isArray(value) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`,
      search,
      depth + 1,
    )
}

function traceValue(value: unknown, search: Search): Pick<ArgumentOrigin, 'origin' | 'via'> {
  if (!isTelling(value)) return { origin: { kind: 'unclaimed' } }
  const places = search.index.find(value)
  const before = places.filter((place) => isBefore(place, search))
  if (before.length > 0) return toOrigin(before, search)
  // What a user asked may be recorded only when a model is told of it, inside the very action.
  const { firstAskedMs } = search.index
  const isAskedLater = places.some(({ by, atMs }) => by === 'user' && atMs === firstAskedMs)
  const isFirst = isAskedLater && places.every(({ by }) => by !== 'step' && by !== 'model')
  if (isFirst) return { origin: { kind: 'user' } }
  // What was put together from words, or before anything was recorded, may be the program's own.
  const isComposed = typeof value === 'string' && /\s/.test(value.trim())
  const isUnknown = isComposed || search.index.isEmptyBefore(search.action.offsetMs)
  return { origin: { kind: isUnknown ? 'unclaimed' : 'nowhere' } }
}

function toOrigin(places: readonly Appearance[], { steps }: Search): Pick<ArgumentOrigin, 'origin' | 'via'> {
  const [first] = places
  if (first === undefined) return { origin: { kind: 'nowhere' } }
  const last = places.findLast(({ by }) => by === 'step') ?? places.findLast(({ by }) => by === 'model')
  const isOther = last !== undefined && last.position !== first.position
  return {
    origin: originOf(first, steps),
    ...(last !== undefined && (isOther || first.by === 'user') && { via: sourceOf(last, steps) }),
  }
}

function originOf(place: Appearance, steps: readonly Step[]): ValueOrigin {
  if (place.by === 'user' || place.by === 'instructions') return { kind: place.by }
  return { kind: place.by, ...sourceOf(place, steps) }
}
