import { argumentsOf } from '../session/problem.ts'
import type { Step } from '../session/step.ts'
import { isNothing } from './common-values.ts'
import { isBefore, sourceOf, type Search } from './argument-search.ts'
import type { Gap } from './value-index.ts'
import type { ArgumentOrigin } from './value-origin.ts'

/** The first step that gave back nothing where this argument has nothing. */
export function traceNothing(path: string, search: Search): Pick<ArgumentOrigin, 'origin' | 'via'> {
  const name = nameOf(path)
  const gaps = search.index.gaps.filter((gap) => isBefore(gap, search))
  const gap = findGap(gaps, name, search.steps)
  if (gap === undefined) return askedByModel(name, search)
  const first = firstOf(gap, gaps, search.steps)
  return {
    origin: { kind: 'step', ...sourceOf(first, search.steps) },
    ...(first !== gap && { via: sourceOf(gap, search.steps) }),
  }
}

/**
 * The last result before it that has to do with the argument, by its name or because something was looked up and not
 * found; else the last that was nothing at all, as it is of steps that return nothing anyway.
 */
function findGap(gaps: readonly Gap[], name: string | undefined, steps: readonly Step[]): Gap | undefined {
  const related = gaps.findLast((gap) => {
    const step = steps[gap.position]!
    return isRelated(gap, name, step) || (gap.isWhole && isLookup(step))
  })
  return related ?? gaps.findLast(({ isWhole }) => isWhole)
}

function isLookup({ kind, effect }: Step): boolean {
  return effect === 'read' || kind === 'retrieval'
}

/** A step that was itself given nothing only passed it on. */
function firstOf(gap: Gap, gaps: readonly Gap[], steps: readonly Step[]): Gap {
  let first = gap
  for (let hops = 0; hops < gaps.length; hops += 1) {
    const step = steps[first.position]!
    const name = emptyArgument(step)
    if (name === undefined) break
    const before = gaps.filter(({ atMs, position }) => atMs <= step.offsetMs && position < first.position)
    const earlier = findGap(before, name, steps)
    if (earlier === undefined) break
    first = earlier
  }
  return first
}

function emptyArgument(step: Step): string | undefined {
  const given = argumentsOf(step)
  if (typeof given !== 'object' || given === null) return undefined
  return Object.entries(given).find(([, value]) => isNothing(value) && value !== undefined)?.[0]
}

/** The model that asked for the action wrote it. */
function askedByModel(name: string | undefined, search: Search): Pick<ArgumentOrigin, 'origin'> {
  const { steps, action, position } = search
  const tool = action.tool?.name ?? action.name
  for (let at = position - 1; at >= 0; at -= 1) {
    const step = steps[at]!
    const parts = step.messages?.flatMap((message) => (message.isOutput === true ? message.parts : [])) ?? []
    const call = parts.find((part) => part.type === 'tool-call' && part.name === tool)
    if (call?.type !== 'tool-call' || !isBefore({ atMs: step.offsetMs, position: at }, search)) continue
    const value =
      name === undefined ? undefined : (call.arguments as { [key: string]: unknown } | null)?.[name]
    return isNothing(value)
      ? { origin: { kind: 'model', ...sourceOf({ position: at, path: tool }, steps) } }
      : { origin: { kind: 'nowhere' } }
  }
  return { origin: { kind: 'nowhere' } }
}

function nameOf(path: string): string | undefined {
  return path.split(/[.[\]]/).findLast((part) => part !== '' && !/^\d+$/.test(part))
}

/** `extract_customer_id` gave back null, or `{ customerId: null }` was given back: both have to do with `customer_id`. */
function isRelated({ name: key, isWhole }: Gap, name: string | undefined, step: Step): boolean {
  if (name === undefined) return false
  return isWhole ? flat(step.name).includes(flat(name)) : flat(key ?? '') === flat(name)
}

function flat(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
}
