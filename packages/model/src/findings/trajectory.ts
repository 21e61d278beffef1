import { readAgentInput } from '../session/agent-input.ts'
import { hasFailed } from '../session/failure.ts'
import { argumentsOf, wordsOf } from '../session/problem.ts'
import type { Session, SessionSummary } from '../session/session.ts'
import { inputMessagesOf, messageText, modelReply, parseResult } from '../session/step-input-output.ts'
import { stepName, type Effect, type Step } from '../session/step.ts'
import { createArgumentTracer, type ArgumentTracer } from '../provenance/trace-arguments.ts'
import { isEmptyValue } from '../provenance/value-index.ts'
import { conclusion, crash } from './phrases.ts'

/** A model's turn, a user's turn, or an action, with what it said or returned. */
export type Turn = {
  step: Step
  /** The place of the step in the session; the number that people see is one higher. */
  position: number
  role: 'decision' | 'action' | 'user'
  /** The agent that speaks, or the tool. */
  name: string
  /** What was said or returned. Without payloads, the preview. */
  text: string
  calls: { name: string; arguments: unknown }[]
  /** Whether an action reads or writes, as far as that is known. */
  effect: Effect | undefined
  /** The decision that asked for an action. */
  author: Turn | undefined
  /** The actions that a decision asked for. */
  actions: Turn[]
  /** True for the turn of an agent whose own steps were not recorded. */
  isDelegate: boolean
}

/** A session as the sequence of turns that detectors look at. */
export type Trajectory = {
  session: SessionSummary
  steps: readonly Step[]
  turns: readonly Turn[]
  decisions: readonly Turn[]
  actions: readonly Turn[]
  /** Decisions that did something: called a tool, or were carried out by an agent of their own. */
  acts: readonly Turn[]
  /** What the user asked for. */
  request: string
  /** The last decision that says something. */
  answer: Turn | undefined
  /** True if one of the last decisions says that the matter is closed. */
  isConcluded: boolean
  /** True if the session is known to have failed; otherwise only alarming findings count. */
  hasFailed: boolean
  trace: ArgumentTracer
  /** What a turn said and what it was called with, in lower case. */
  searchText: (turn: Turn) => string
  /** True when the same tool worked after this call. */
  isRecovered: (action: Turn) => boolean
  turnOf: ReadonlyMap<string, Turn>
}

const MAX_TEXT_LENGTH = 20_000
const FEWEST_WORDS_OF_ANSWER = 6
const LAST_DECISIONS = 4

export function toTrajectory(session: Session): Trajectory {
  const { steps } = session
  const turns = findTurns(steps)
  linkActions(turns, steps)
  const decisions = turns.filter(({ role }) => role === 'decision')
  const actions = turns.filter(({ role }) => role === 'action')
  const lastSuccess = new Map(
    actions.filter(({ step }) => !hasFailed(step)).map(({ name, position }) => [name, position]),
  )
  return {
    session: session.session,
    steps,
    turns,
    decisions,
    actions,
    acts: decisions.filter(isAct),
    request: readAgentInput(session).text,
    answer: decisions.findLast((turn) => isStatement(turn)),
    isConcluded: decisions
      .slice(-LAST_DECISIONS)
      .some(({ text, isDelegate }) => !isDelegate && conclusion.test(text)),
    hasFailed: session.session.endState === 'fail' || session.session.endState === 'lost',
    trace: lazyTracer(steps),
    searchText: createTextCache(),
    isRecovered: ({ name, position }) => (lastSuccess.get(name) ?? -1) > position,
    turnOf: new Map(turns.map((turn) => [turn.step.id, turn])),
  }
}

function isAct({ calls, actions, isDelegate }: Turn): boolean {
  return isDelegate || calls.length > 0 || actions.some((action) => !isCalledWithNothing(action))
}

/** True for a tool that was given arguments without any content, as when a message had no code to run. */
function isCalledWithNothing({ step }: Turn): boolean {
  const given = argumentsOf(step)
  if (typeof given !== 'object' || given === null) return false
  const values = Object.values(given)
  return values.length > 0 && values.every((value) => isEmptyValue(value))
}

function createTextCache(): (turn: Turn) => string {
  const texts = new Map<Turn, string>()
  return (turn) => {
    const known = texts.get(turn)
    if (known !== undefined) return known
    const call =
      turn.role === 'action' ? callText(turn) : turn.calls.length > 0 ? JSON.stringify(turn.calls) : ''
    const text = `${turn.text} ${call}`.toLowerCase()
    texts.set(turn, text)
    return text
  }
}

/** Longer sessions are traced only this far back. */
const TRACED_STEPS = 600

/** Indexing all values is expensive, and most sessions have nothing to trace. */
function lazyTracer(steps: readonly Step[]): ArgumentTracer {
  let whole: ArgumentTracer | undefined
  return (action) => {
    if (steps.length <= TRACED_STEPS) return (whole ??= createArgumentTracer(steps))(action)
    const end = steps.indexOf(action) + 1
    return createArgumentTracer(steps.slice(Math.max(0, end - TRACED_STEPS), end))(action)
  }
}

/** Words for people, as opposed to a word that ends the conversation or data for the program. */
function isStatement({ text }: Turn): boolean {
  return (
    countWords(text) >= FEWEST_WORDS_OF_ANSWER &&
    !crash.test(text) &&
    !/^\W*(?:[\w ]{0,30}:)?\s*[{[]/.test(text)
  )
}

/** In a team, a first turn without an act hands the task on: what stands in it was given. */
export function findTask({ decisions, acts }: Pick<Trajectory, 'decisions' | 'acts'>): Turn | undefined {
  const [first, second] = decisions
  const isTeam = decisions.some(({ name }) => name !== first?.name)
  return first !== undefined && second !== undefined && isTeam && acts[0] !== first ? first : undefined
}

/** True when the action may change something. */
export function isWrite({ effect }: Turn): boolean {
  return effect === 'write'
}

export function countWords(text: string): number {
  return text.match(/[\p{L}\p{N}]+/gu)?.length ?? 0
}

const speakers: ReadonlySet<string> = new Set(['llm', 'agent'])

function findTurns(steps: readonly Step[]): Turn[] {
  const wrappers = findWrappers(steps)
  const guesses = new Map<string, Effect | undefined>()
  const turns: Turn[] = []
  for (const [position, step] of steps.entries()) {
    if (step.kind === 'action' || step.kind === 'retrieval') {
      const turn = toTurn(step, position, 'action')
      if (!guesses.has(turn.name)) guesses.set(turn.name, guessEffect(turn.name))
      turn.effect = step.effect ?? (step.kind === 'retrieval' ? 'read' : guesses.get(turn.name))
      turns.push(turn)
    } else if (speakers.has(step.kind) && !wrappers.has(step.id))
      turns.push(toTurn(step, position, isUser(step) ? 'user' : 'decision'))
  }
  return turns
}

/** Steps around other turns: what they return, the turns inside them have already said. */
function findWrappers(steps: readonly Step[]): Set<string> {
  const parents = new Map(steps.map(({ id, parentId }) => [id, parentId]))
  const wrappers = new Set<string>()
  const kinds = new Map(steps.map(({ id, kind }) => [id, kind]))
  for (const { kind, id } of steps) {
    if (kind !== 'action' && kind !== 'retrieval' && !speakers.has(kind)) continue
    let parent = parents.get(id)
    // A model call around the tools that it asked for is a turn of its own.
    while (parent !== undefined && parent !== null && !wrappers.has(parent)) {
      if (speakers.has(kind) || kinds.get(parent) !== 'llm') wrappers.add(parent)
      parent = parents.get(parent)
    }
  }
  return wrappers
}

/** Frameworks that simulate a user record the user's turns as those of an agent. */
function isUser({ agent, name }: Step): boolean {
  return /^(?:user|human|customer)(?:[_ -]?(?:proxy|agent|simulator))?$/i.test(agent ?? name)
}

function toTurn(step: Step, position: number, role: Turn['role']): Turn {
  const reply = role === 'action' ? { text: textOfResult(step), calls: [] } : modelReply(step)
  const text = reply.text === '' && reply.calls.length === 0 ? (step.outputPreview ?? '') : reply.text
  return {
    step,
    position,
    role,
    name: role === 'action' ? stepName(step) : (step.agent ?? step.name),
    text: text.slice(0, MAX_TEXT_LENGTH),
    calls: reply.calls,
    effect: undefined,
    author: undefined,
    actions: [],
    isDelegate: role === 'decision' && step.kind === 'agent',
  }
}

function textOfResult(step: Step): string {
  const result = step.tool?.result === undefined ? step.output : step.tool.result
  if (typeof result === 'string') return result
  return result === undefined ? (step.error?.message ?? '') : (JSON.stringify(result) ?? '')
}

/** The result of an action as a value. */
export function resultOf({ step }: Turn): unknown {
  const result = step.tool?.result === undefined ? step.output : step.tool.result
  return parseResult(result === undefined ? step.retrieval?.documents : result)
}

/** What the action was called with, as text. */
export function callText({ step }: Turn): string {
  const given = argumentsOf(step) ?? step.retrieval?.query
  if (typeof given === 'string') return given
  return given === undefined ? (step.inputPreview ?? '') : (JSON.stringify(given) ?? '')
}

/** How many decisions back the author of an action is looked for. */
const MAX_DISTANCE = 6

/** Finds the decision that asked for each action: by call id, by name, by its text, otherwise the one before it. */
function linkActions(turns: readonly Turn[], steps: readonly Step[]): void {
  const kinds = new Map(steps.map(({ id, kind }) => [id, kind]))
  const isInAction = ({ step }: Turn) => step.parentId !== null && kinds.get(step.parentId) === 'action'
  const askers = callIdsOf(turns)
  const recent: Turn[] = []
  for (const turn of turns) {
    if (turn.role === 'decision') {
      recent.unshift(turn)
      if (recent.length > MAX_DISTANCE) recent.pop()
    }
    // An action inside another one was called by its code.
    if (turn.role !== 'action' || isInAction(turn)) continue
    const author = askers.get(turn.step.tool?.callId ?? '') ?? findAuthor(turn, recent, isInAction)
    if (author === undefined || author.position >= turn.position) continue
    turn.author = author
    author.actions.push(turn)
  }
}

function callIdsOf(turns: readonly Turn[]): Map<string, Turn> {
  const askers = new Map<string, Turn>()
  for (const turn of turns) {
    if (turn.calls.length === 0) continue
    for (const message of turn.step.messages ?? [])
      if (message.isOutput === true)
        for (const part of message.parts)
          if (part.type === 'tool-call' && part.id !== undefined && !askers.has(part.id))
            askers.set(part.id, turn)
  }
  return askers
}

function findAuthor(
  action: Turn,
  recent: readonly Turn[],
  isInAction: (turn: Turn) => boolean,
): Turn | undefined {
  const named = recent.find(({ calls }) => calls.some(({ name }) => name === action.name))
  if (named !== undefined) return named
  const code = longestText(argumentsOf(action.step))
  if (code !== undefined) {
    const written = recent.find(({ text }) => text.includes(code))
    if (written !== undefined) return written
  }
  // A program that calls functions one after the other decides itself; its model calls did not ask for them.
  const [last] = recent
  const isAsking = last !== undefined && last.calls.length === 0 && last.step.agent !== undefined
  return isAsking && !isInAction(last) ? last : undefined
}

const LONG_TEXT = 24

/** A piece of the longest argument, by which a model's text is recognised as its source. */
function longestText(given: unknown): string | undefined {
  if (typeof given !== 'object' || given === null)
    return typeof given === 'string' ? given.slice(0, 200) : undefined
  const texts = Object.values(given).filter((value): value is string => typeof value === 'string')
  const longest = texts.toSorted((one, other) => other.length - one.length)[0]
  return longest !== undefined && longest.length >= LONG_TEXT ? longest.trim().slice(0, 200) : undefined
}

const LAST_MESSAGES = 2

/** What the user said last before a decision. */
export function userMessagesOf({ step }: Turn): string[] {
  return inputMessagesOf(step)
    .filter(({ role }) => role === 'user')
    .slice(-LAST_MESSAGES)
    .map((message) => messageText(message).slice('user: '.length))
}

const readVerbs = new Set(
  `get find list search fetch read look lookup check calculate compute query describe count view show retrieve load
  classify extract select open browse visit scrape validate verify summarize summarise analyze analyse inspect
  compare filter sort parse detect estimate preview resolve translate rank embed grep download
  run execute python shell bash terminal computer code evaluate is has can web google bing wikipedia`.split(
    /\s+/,
  ),
)
const writeVerbs = new Set(
  `create update delete remove modify change cancel return exchange refund send write post put patch insert add set book
  reserve order pay charge transfer submit publish approve reject close reopen assign issue notify email mail message
  register deploy start stop restart upload save store schedule grant revoke commit merge edit rename move copy archive
  subscribe unsubscribe escalate release apply confirm`.split(/\s+/),
)

/** Whether an action reads or writes, guessed from its name. Undefined if the name says neither. */
function guessEffect(name: string): Effect | undefined {
  const verb = wordsOf(name).find((word) => readVerbs.has(word) || writeVerbs.has(word))
  if (verb === undefined) return undefined
  return writeVerbs.has(verb) ? 'write' : 'read'
}
