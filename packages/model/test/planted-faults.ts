import { readdirSync, readFileSync } from 'node:fs'
import { alignedParallel, otherIdsAndTimes, startsAfter, withVolatileValues } from './other-run.ts'
import { createRandom, type Random } from './random.ts'
import type { DifferenceKind } from '../src/align/difference.ts'
import type { Session } from '../src/session/session.ts'
import type { Step } from '../src/session/step.ts'

export type PlantedPair = {
  fault: string
  scenario: string
  a: Session
  b: Session
  /** The divergence that must be found, or null. The id is from `b`, or from `a` if `b` lacks the step. */
  expected: { kinds: DifferenceKind[]; stepId: string; path?: string } | null
  /** The step with the wrong result, and the value to trace. */
  bad?: { stepId: string; value: unknown }
  /** An argument that no earlier step had. */
  madeUp?: unknown
}

type Planted = Pick<PlantedPair, 'expected' | 'bad' | 'madeUp'> & { steps: Step[] }

/** Plants a fault into the steps; undefined when there is no place for it. */
type Planter = (steps: Step[], random: Random) => Planted | undefined

const folder = new URL('scenarios/', import.meta.url)

export function readScenarios(): { name: string; session: Session }[] {
  return readdirSync(folder)
    .toSorted()
    .map((file) => ({
      name: file.replace('.json', ''),
      session: JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as Session,
    }))
}

/**
 * Pairs of sessions of the example agent. The second has a fault, other ids and times, and another order of parallel
 * steps.
 */
export function plantFaults(count: number, seed: number): PlantedPair[] {
  const scenarios = readScenarios()
  const names = Object.keys(planters)
  const pairs: PlantedPair[] = []
  for (let attempt = 0; pairs.length < count; attempt += 1) {
    const random = createRandom(seed + attempt * 7919)
    const fault = names[attempt % names.length]!
    const { name, session } = random.pick(scenarios.filter(({ name }) => canHave(fault, name)))
    const volatileSession = withVolatileValues(session, random)
    const planted = planters[fault]!(structuredClone(volatileSession.steps), random)
    if (planted === undefined) continue
    const { steps, ...rest } = planted
    // Models hardly ever repeat themselves, and the fault must be found nevertheless.
    if (fault !== 'wrong branch' && random.chance(0.4)) reword(steps, random)
    const { session: b, idOf } = otherIdsAndTimes({ session: session.session, steps }, random)
    const mapId = <Place extends { stepId: string }>(place: Place): Place => ({
      ...place,
      stepId: idOf(place.stepId) ?? place.stepId,
    })
    pairs.push({
      fault,
      scenario: name,
      a: volatileSession,
      b,
      expected: rest.expected === null ? null : mapId(rest.expected),
      ...(rest.bad !== undefined && { bad: mapId(rest.bad) }),
      madeUp: rest.madeUp,
    })
  }
  return pairs
}

/** Only the order investigation runs steps in parallel. */
function canHave(fault: string, scenario: string): boolean {
  return fault !== 'parallel order' || scenario === 'order'
}

const planters: Record<string, Planter> = {
  none: (steps) => ({ steps, expected: null }),
  'parallel order': (steps, random) => {
    const reordered = alignedParallel(steps, random)
    return reordered === undefined ? undefined : { steps: reordered, expected: null }
  },
  'other words': (steps, random) => (reword(steps, random) ? { steps, expected: null } : undefined),
  'another result': plantResult,
  'nothing found': plantNull,
  'another argument': plantArgument,
  'dropped argument': dropArgument,
  'wrong branch': plantDecision,
  'changed prompt': changePrompt,
  'extra write': (steps, random) => insertAction(steps, random, 'write'),
  'extra read': (steps, random) => insertAction(steps, random, 'read'),
  'missing step': dropStep,
}

const openings = ['Of course: ', 'Thanks for asking. ', 'Sure. ', 'Here is what I found. ', 'Good question! ']
const exchanged: [RegExp, string][] = [
  [/\bI see\b/g, 'I can see'],
  [/\bis a duplicate\b/g, 'was charged by mistake'],
  [/\byou have it back\b/g, 'the money is yours again'],
  [/\bThank you\b/g, 'Many thanks'],
  [/\bright away\b/g, 'at once'],
  [/\bshould\b/g, 'ought to'],
]

/** Rewords a model's reply and its later copies. False when no model replied with a sentence. */
function reword(steps: Step[], random: Random): boolean {
  const said = steps.flatMap((step) => {
    const text = step.kind === 'llm' ? answerText(step) : undefined
    return text !== undefined && text.split(' ').length >= 7 ? [{ step, text }] : []
  })
  for (const { step, text } of said) {
    let words = `${random.pick(openings)}${text}`
    for (const [pattern, other] of exchanged) if (random.chance(0.7)) words = words.replaceAll(pattern, other)
    const [part] = step.messages!.find(({ isOutput }) => isOutput === true)!.parts
    if (part?.type === 'text') part.text = words
    step.outputPreview = words
    for (const later of steps) {
      if (later.offsetMs + (later.durationMs ?? 0) < step.offsetMs + (step.durationMs ?? 0) || later === step)
        continue
      const { input, output, tool, messages } = later
      const isAround = later.offsetMs < step.offsetMs
      const repeated = isAround ? { output, tool } : { input, output, tool, messages }
      Object.assign(later, replaceText(repeated, text, words))
    }
  }
  return said.length > 0
}

function answerText({ messages }: Step): string | undefined {
  const parts = messages?.find(({ isOutput }) => isOutput === true)?.parts ?? []
  return parts.length === 1 && parts[0]!.type === 'text' ? parts[0]!.text : undefined
}

function replaceText(value: unknown, old: string, next: string): unknown {
  if (typeof value === 'string') return value.replaceAll(old, next)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item) => replaceText(item, old, next))
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, item]) =>
      item === undefined ? [] : [[key, replaceText(item, old, next)]],
    ),
  )
}

function actionsOf(steps: readonly Step[]): Step[] {
  return steps.filter(({ kind, status }) => kind === 'action' && status === 'ok')
}

/** All paths to numbers and to texts of at least three letters. */
function leavesOf(value: unknown, path: string[] = []): { path: string[]; value: string | number }[] {
  if (typeof value === 'string') return value.length >= 3 ? [{ path, value }] : []
  if (typeof value === 'number') return [{ path, value }]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value)
    .filter(([key]) => key !== 'requestId' && key !== 'at')
    .flatMap(([key, item]) => leavesOf(item, [...path, key]))
}

function setAt(value: unknown, [key, ...rest]: string[], next: unknown): unknown {
  if (key === undefined) return next
  if (Array.isArray(value))
    return value.map((item, index) => (String(index) === key ? setAt(item, rest, next) : item))
  const object = value as { [key: string]: unknown }
  return { ...object, [key]: setAt(object[key], rest, next) }
}

function setResult(step: Step, result: unknown): void {
  step.output = result
  step.outputPreview = typeof result === 'string' ? result : JSON.stringify(result)
  if (step.tool !== undefined) step.tool = { ...step.tool, result }
}

function setArguments(step: Step, given: unknown): void {
  step.input = given
  if (step.tool !== undefined) step.tool = { ...step.tool, arguments: given }
}

/** Replaces later copies of the value too. */
function spread(steps: readonly Step[], from: Step, old: unknown, next: unknown): void {
  for (const step of steps) {
    if (!startsAfter(step, from)) continue
    const { input, output, tool, messages } = step
    Object.assign(step, replaceValue({ input, output, tool, messages }, old, next))
  }
}

function replaceValue(value: unknown, old: unknown, next: unknown): unknown {
  if (value === old) return next
  if (typeof value === 'string') return value.replaceAll(JSON.stringify(old), JSON.stringify(next))
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item) => replaceValue(item, old, next))
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, item]) =>
      item === undefined
        ? []
        : [[key, key === 'name' || key === 'type' || key === 'role' ? item : replaceValue(item, old, next)]],
    ),
  )
}

function otherValue(value: string | number, random: Random): string | number {
  return typeof value === 'number'
    ? value + random.integer(1, 90)
    : `${random.word()}-${random.integer(100, 999)}`
}

function plantResult(steps: Step[], random: Random): Planted | undefined {
  const step = random.pickMaybe(actionsOf(steps).filter(({ output }) => leavesOf(output).length > 0))
  if (step === undefined) return undefined
  const leaf = random.pick(leavesOf(step.output))
  const value = otherValue(leaf.value, random)
  setResult(step, setAt(step.output, leaf.path, value))
  spread(steps, step, leaf.value, value)
  return { steps, expected: { kinds: ['result'], stepId: step.id }, bad: { stepId: step.id, value } }
}

/** Lets a lookup find nothing, so that later steps get null. */
function plantNull(steps: Step[], random: Random): Planted | undefined {
  const candidates = actionsOf(steps).filter(
    (step) =>
      typeof step.output === 'string' &&
      step.output !== 'null' &&
      steps.some((later) => startsAfter(later, step) && hasArgument(later, step.output)),
  )
  const step = random.pickMaybe(candidates)
  if (step === undefined) return undefined
  const old = step.output
  setResult(step, null)
  spread(steps, step, old, null)
  return { steps, expected: { kinds: ['result'], stepId: step.id }, bad: { stepId: step.id, value: null } }
}

function hasArgument({ kind, input }: Step, value: unknown): boolean {
  return (
    kind === 'action' && typeof input === 'object' && input !== null && Object.values(input).includes(value)
  )
}

function plantArgument(steps: Step[], random: Random): Planted | undefined {
  const step = random.pickMaybe(actionsOf(steps).filter(({ input }) => leavesOf(input).length > 0))
  if (step === undefined) return undefined
  const leaf = random.pick(leavesOf(step.input))
  const madeUp = otherValue(leaf.value, random)
  setArguments(step, setAt(step.input, leaf.path, madeUp))
  return { steps, expected: { kinds: ['argument', 'input'], stepId: step.id, path: leaf.path[0]! }, madeUp }
}

function dropArgument(steps: Step[], random: Random): Planted | undefined {
  const step = random.pickMaybe(actionsOf(steps).filter(({ input }) => Object.keys(input ?? {}).length > 0))
  if (step === undefined) return undefined
  const key = random.pick(Object.keys(step.input as object))
  const { [key]: _dropped, ...given } = step.input as { [key: string]: unknown }
  setArguments(step, given)
  const expected = { kinds: ['argument' as const], stepId: step.id, path: key }
  if (random.chance(0.5)) return { steps, expected }
  step.status = 'error'
  step.error = { type: 'TypeError', message: `missing 1 required argument: '${key}'` }
  return { steps: steps.filter((later) => !startsAfter(later, step)), expected }
}

/** Lets the model decide differently, so that the agent takes another path. */
function plantDecision(steps: Step[], random: Random): Planted | undefined {
  const step = random.pickMaybe(
    steps.filter(({ kind, messages }) => kind === 'llm' && messages !== undefined),
  )
  if (step === undefined) return undefined
  const answer = step.messages!.find(({ isOutput }) => isOutput === true)!
  const call = answer.parts.find((part) => part.type === 'tool-call')
  if (call !== undefined) call.name = `${random.word()}_${random.word()}`
  else answer.parts = [{ type: 'text', text: random.sentence() }]
  const later = steps.filter((other) => startsAfter(other, step))
  const kept = new Set(later.filter(() => random.chance(0.4)))
  const left = steps.filter((other) => !later.includes(other) || kept.has(other))
  return { steps: withParents(left), expected: { kinds: ['decision'], stepId: step.id } }
}

/** Drops the steps whose parent was dropped. */
function withParents(steps: Step[]): Step[] {
  const ids = new Set(steps.map(({ id }) => id))
  return steps.filter(({ parentId }) => parentId === null || ids.has(parentId))
}

/** Changes the system prompt in every call. */
function changePrompt(steps: Step[], random: Random): Planted | undefined {
  const called = steps.filter(({ messages }) => messages?.some(({ role }) => role === 'system') === true)
  const step = random.pickMaybe(called)
  if (step === undefined) return undefined
  const old = systemText(step)
  const words = old.split(' ')
  words.splice(random.integer(0, words.length - 1), random.integer(0, 3), random.word(), random.word())
  const changed = called.filter((other) => systemText(other) === old)
  for (const other of changed)
    other.messages!.find(({ role }) => role === 'system')!.parts = [{ type: 'text', text: words.join(' ') }]
  return { steps, expected: { kinds: ['prompt'], stepId: changed[0]!.id, path: 'system' } }
}

function systemText({ messages }: Step): string {
  const [part] = messages!.find(({ role }) => role === 'system')!.parts
  return part?.type === 'text' ? part.text : ''
}

function insertAction(steps: Step[], random: Random, effect: 'read' | 'write'): Planted | undefined {
  const before = random.pickMaybe(steps.filter(({ parentId }) => parentId !== null))
  if (before === undefined) return undefined
  const name = effect === 'write' ? 'issue_refund' : 'look_up_account'
  const given = { invoice: `INV-${random.integer(1000, 9999)}`, amount: random.integer(10, 500) }
  const offsetMs = before.offsetMs + (before.durationMs ?? 0) + 0.001
  const action: Step = {
    ...before,
    id: 'inserted',
    kind: 'action',
    name,
    effect,
    status: 'ok',
    offsetMs,
    durationMs: 0.001,
    tool: { name, arguments: given, result: { success: true } },
    input: given,
    output: { success: true },
    cost: null,
  }
  delete action.messages
  delete action.usage
  delete action.error
  const at = steps.findLastIndex((step) => step.offsetMs <= offsetMs) + 1
  const kind = effect === 'write' ? 'added-effect' : 'extra-step'
  return { steps: steps.toSpliced(at, 0, action), expected: { kinds: [kind], stepId: action.id } }
}

function dropStep(steps: Step[], random: Random): Planted | undefined {
  const parents = new Set(steps.map(({ parentId }) => parentId))
  const step = random.pickMaybe(actionsOf(steps).filter(({ id }) => !parents.has(id)))
  if (step === undefined) return undefined
  const kind = step.effect === 'write' ? 'missing-effect' : 'missing-step'
  return { steps: steps.filter((other) => other !== step), expected: { kinds: [kind], stepId: step.id } }
}
