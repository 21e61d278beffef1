import { argumentsOf, findProblems } from '../session/problem.ts'
import { stepName, type Step } from '../session/step.ts'
import {
  isBefore,
  sourceOf,
  trailOf,
  type ArgumentOrigin,
  type AskingCall,
  type Search,
  type TrailStep,
  type ValueOrigin,
} from './argument-origin.ts'
import { traceEmptyValue, traceMissing } from './trace-empty-value.ts'
import { isCommonNumber, isDistinctive, isEmptyValue, ValueIndex, type Appearance } from './value-index.ts'

const MAX_ORIGINS = 60
const MAX_DEPTH = 6

/** Tells for each argument of an action where its value came from. */
export type ArgumentTracer = (action: Step) => ArgumentOrigin[]

/**
 * Indexes the steps of a session once, for questions about any of its actions. Steps without payloads are searched by
 * their previews.
 */
export function createArgumentTracer(steps: readonly Step[]): ArgumentTracer {
  const index = new ValueIndex(steps)
  const positions = new Map(steps.map((step, position) => [step.id, position]))
  const parents = new Map(steps.map(({ id, parentId }) => [id, parentId]))
  return (action) => {
    const position = positions.get(action.id)
    if (action.kind !== 'action' || position === undefined) return []
    const before = { steps, index, action, position, ancestors: ancestorsOf(action, parents) }
    const search: Search = { ...before, call: findAskingCall(before) }
    const found: ArgumentOrigin[] = []
    trace({ value: argumentsOf(action), path: '', depth: 0 }, search, found)
    for (const { path, value } of findProblems(action))
      if (value === undefined && found.every((origin) => origin.path !== path))
        found.push({ path, value, ...traceMissing(path, search) })
    return found
  }
}

function ancestorsOf({ id }: Step, parents: ReadonlyMap<string, string | null>): Set<string> {
  const ancestors = new Set<string>()
  let parent = parents.get(id)
  while (parent !== undefined && parent !== null && !ancestors.has(parent)) {
    ancestors.add(parent)
    parent = parents.get(parent)
  }
  return ancestors
}

function findAskingCall(search: Omit<Search, 'call'>): AskingCall | undefined {
  const { steps, action } = search
  const tool = stepName(action)
  for (let position = search.position - 1; position >= 0; position -= 1) {
    const step = steps[position]!
    const call = askedIn(step, tool, action.tool?.callId)
    if (call !== undefined && isBefore({ atMs: step.offsetMs, position }, search))
      return { position, ...call }
  }
  return undefined
}

/** Without messages, the preview is searched; it writes tool calls as `→ name(…)`. */
function askedIn(step: Step, tool: string, callId: string | undefined): { arguments?: unknown } | undefined {
  if (step.messages === undefined) {
    const preview = step.kind === 'llm' ? step.outputPreview : undefined
    return preview?.startsWith('→ ') === true && preview.includes(`${tool}(`) ? {} : undefined
  }
  for (const message of step.messages) {
    if (message.isOutput !== true) continue
    for (const part of message.parts) {
      if (part.type !== 'tool-call') continue
      const hasIds = callId !== undefined && part.id !== undefined
      if (hasIds ? part.id === callId : part.name === tool) return { arguments: part.arguments }
    }
  }
  return undefined
}

type Argument = { value: unknown; path: string; depth: number }

function trace({ value, path, depth }: Argument, search: Search, found: ArgumentOrigin[]): void {
  if (found.length >= MAX_ORIGINS) return
  if (isEmptyValue(value)) {
    if (path !== '' && value !== undefined) found.push({ path, value, ...traceEmptyValue(path, search) })
    return
  }
  if (typeof value !== 'object' || value === null) {
    found.push({ path, value, ...traceValue(value, search) })
    return
  }
  const whole = path === '' ? [] : search.index.find(value).filter((place) => isBefore(place, search))
  if (whole.length > 0 || depth >= MAX_DEPTH) {
    found.push({ path, value, ...toTraced(whole, search) })
    return
  }
  for (const [key, item] of Object.entries(value)) {
    const itemPath = Array.isArray(value) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`
    trace({ value: item, path: itemPath, depth: depth + 1 }, search, found)
  }
}

type Traced = Pick<ArgumentOrigin, 'origin' | 'isUncertain' | 'via' | 'trail'>

function traceValue(value: unknown, search: Search): Traced {
  const unknown = (kind: 'user' | 'nowhere' | 'unclaimed'): Traced => ({
    origin: { kind },
    trail: trailOf([], search),
  })
  if (!isDistinctive(value)) return unknown('unclaimed')
  const places = search.index.find(value)
  const before = places.filter((place) => isBefore(place, search))
  const isCommon = isCommonNumber(value)
  if (before.length > 0) return { ...toTraced(before, search), ...(isCommon && { isUncertain: true }) }
  if (isCommon) return unknown('unclaimed')
  // The user's message may be recorded only by a model call inside the action.
  const { firstAskedMs } = search.index
  const isAskedLater = places.some(({ by, atMs }) => by === 'user' && atMs === firstAskedMs)
  if (isAskedLater && places.every(({ by }) => by !== 'step' && by !== 'model')) return unknown('user')
  // A composed text, or a value from before the first recorded step, may come from the program.
  const isComposed = typeof value === 'string' && /\s/.test(value.trim())
  const isUnknown = isComposed || search.index.isEmptyBefore(search.action.offsetMs)
  return unknown(isUnknown ? 'unclaimed' : 'nowhere')
}

function toTraced(found: readonly Appearance[], search: Search): Traced {
  const places = withoutOtherCalls(found, search)
  const { steps } = search
  const [first] = places
  if (first === undefined) return { origin: { kind: 'nowhere' }, trail: trailOf([], search) }
  const last = places.findLast(({ by }) => by === 'step') ?? places.findLast(({ by }) => by === 'model')
  const isOther = last !== undefined && last.position !== first.position
  const via = isOther || first.by === 'user' ? last : undefined
  const stops: TrailStep[] = []
  for (const { by, position } of via === undefined ? [first] : [first, via])
    if (by === 'step' || by === 'model')
      stops.push({
        step: steps[position]!,
        number: position + 1,
        did: by === 'step' ? 'returned it' : 'wrote it',
      })
  return {
    origin: originOf(first, steps),
    ...(via !== undefined && { via: sourceOf(via, steps) }),
    trail: trailOf(stops, search),
  }
}

/** A model that calls several tools at once may give them the same value; the action got it from its own call. */
function withoutOtherCalls(places: readonly Appearance[], { call, action }: Search): readonly Appearance[] {
  if (call === undefined) return places
  const tool = stepName(action)
  const isIn = ({ by, position }: Appearance) => by === 'model' && position === call.position
  const isOwn = ({ path }: Appearance) =>
    path === tool || path.startsWith(`${tool}.`) || path.startsWith(`${tool}[`)
  if (!places.some((place) => isIn(place) && isOwn(place))) return places
  return places.filter((place) => !isIn(place) || isOwn(place))
}

function originOf(place: Appearance, steps: readonly Step[]): ValueOrigin {
  if (place.by === 'user' || place.by === 'instructions') return { kind: place.by }
  return { kind: place.by, ...sourceOf(place, steps) }
}
