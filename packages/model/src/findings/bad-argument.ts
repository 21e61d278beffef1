import { hasFailed } from '../session/failure.ts'
import { argumentsOf, findProblems, lastNameIn, type ArgumentProblem } from '../session/problem.ts'
import { inputMessagesOf, messageText } from '../session/step-input-output.ts'
import type { ArgumentOrigin } from '../provenance/argument-origin.ts'
import { breakOfSchema } from './argument-schema.ts'
import { capitalize, evidenceAt, nameTurn, showValue, toBareTurn, toClue } from './clue.ts'
import { isEmptyResult } from './empty-result.ts'
import type { Clue } from './finding.ts'
import { admission } from './phrases.ts'
import { resultOf, type Trajectory, type Turn } from './trajectory.ts'

const MOST_CALLS = 12
/** Tracing searches much of the session, so only so many calls are traced: the first and the last ones. */
const MOST_TRACED = 6

/** Finds calls with arguments that could not work, and blames the step that the value came from. */
export function findBadArguments(run: Trajectory): Clue[] {
  // A call that was corrected explains nothing, unless the session failed anyway.
  const unsuccessful = run.actions.filter(
    (turn) => isUnsuccessful(turn) && (run.hasFailed || !run.isRecovered(turn)),
  )

  const traced = unsuccessful.filter((turn) => findProblems(turn.step).length > 0)
  return [
    ...firstAndLast(traced, MOST_TRACED).flatMap((turn) => findEmptyArguments(turn, run)),
    ...firstAndLast(unsuccessful, MOST_CALLS).flatMap((turn) => findInvented(turn, run)),
    ...findUnknownTools(run),
    ...findSchemaBreaks(run),
    ...findOffTopic(run),
  ]
}

function firstAndLast(turns: readonly Turn[], most: number): readonly Turn[] {
  return turns.length <= most ? turns : [...turns.slice(0, most / 2), ...turns.slice(-most / 2)]
}

function isUnsuccessful(turn: Turn): boolean {
  return hasFailed(turn.step) || isEmptyResult(resultOf(turn), argumentsOf(turn.step))
}

/** Null, empty and missing arguments of a failed action. */
function findEmptyArguments(turn: Turn, run: Trajectory): Clue[] {
  const [problem] = findProblems(turn.step)
  if (problem === undefined) return []
  const traced = findOrigin(run.trace(turn.step), problem.path)
  const source = sourceOf(traced, turn, run)
  const name = problem.path === '' ? 'its input' : problem.path
  const value = problem.value === undefined ? 'not passed' : showValue(problem.value)
  const got = `got ${name} = ${value} and failed`
  return [
    toClue(
      'bad-argument/empty',
      source,
      (isCertain(problem, traced) ? 1 : 0.5) * (isAdmitted(turn, run) ? TOLD : 1),
      describeEmpty(source, turn, got),
      [
        ...(source === turn ? [] : [evidenceAt(source, 'output', source.text || 'nothing')]),
        evidenceAt(turn, `arguments.${problem.path}`, value),
      ],
      turn,
    ),
  ]
}

function describeEmpty(source: Turn, turn: Turn, got: string): string {
  if (source.step.id === turn.step.id) return `${capitalize(nameTurn(turn))} ${got}.`
  if (source.role !== 'action') return `${capitalize(nameTurn(source))} called ${turn.name}, which ${got}.`
  const returned = source.text === '' ? 'nothing' : source.text.slice(0, 60)
  return `${capitalize(nameTurn(source))} returned ${returned}; ${nameTurn(turn)} ${got}.`
}

/** What a missing value counts if the agent told the user that it could not help. */
const TOLD = 0.5

function isAdmitted({ position }: Turn, { decisions, hasFailed: isFailed }: Trajectory): boolean {
  return !isFailed && decisions.some((turn) => turn.position > position && admission.test(turn.text))
}

/** The origin of an argument. Functions with one parameter have all arguments inside it, so the last name decides. */
function findOrigin(traced: readonly ArgumentOrigin[], path: string): ArgumentOrigin | undefined {
  const exact = traced.find((origin) => origin.path === path)
  if (exact?.origin.kind === 'step') return exact
  const name = lastNameIn(path)
  return traced.find((origin) => origin.origin.kind === 'step' && lastNameIn(origin.path) === name) ?? exact
}

function isCertain({ value }: ArgumentProblem, traced: ArgumentOrigin | undefined): boolean {
  // An empty list may be meant; null hardly ever is.
  return traced?.isUncertain !== true && (value === null || value === undefined || typeof value === 'string')
}

/** The turn that a value came from: the step that returned it, the model that wrote it, otherwise whoever called. */
function sourceOf(traced: ArgumentOrigin | undefined, turn: Turn, run: Trajectory): Turn {
  const origin = traced?.origin
  if (origin?.kind === 'step' || origin?.kind === 'model') {
    const found = run.turnOf.get(origin.step.id)
    return found ?? toBareTurn(origin.step, run.steps)
  }
  return turn.author ?? turn
}

const placeholder =
  /^<[^<>]{1,40}>$|^\{\{?[^{}]{1,40}\}?\}$|^\[[A-Za-z_ ]{2,40}\]$|^(?:n\/a|tbd|todo|unknown|string|null|none|xxx+|foo|bar|test|example|placeholder|dummy|sample)$|(?:^|[_\W])(?:your|example|placeholder|dummy)[_-]\w+|(?:^|\/)path\/to\//i

/** Values that stand nowhere before the call, and placeholders. */
function findInvented(turn: Turn, run: Trajectory): Clue[] {
  const author = turn.author
  if (author === undefined) return []
  const held = findPlaceholder(argumentsOf(turn.step))
  if (held !== undefined && !run.request.includes(held.value))
    return [
      toClue(
        'bad-argument/placeholder',
        author,
        1,
        `${capitalize(nameTurn(author))} called ${turn.name} with the placeholder ${showValue(held.value)}${describeOutcome(turn)}.`,
        [evidenceAt(turn, `arguments.${held.path}`, held.value)],
      ),
    ]
  const invented = findId(argumentsOf(turn.step), '', (id) => !isKnown(id, author, run))
  if (invented === undefined) return []
  return [
    toClue(
      'bad-argument/invented',
      author,
      hasFailed(turn.step) ? 1 : 0.6,
      `${capitalize(nameTurn(author))} called ${turn.name} with ${invented.path} = ${showValue(invented.value)}, which appears nowhere before${describeOutcome(turn)}.`,
      [evidenceAt(turn, `arguments.${invented.path}`, invented.value)],
    ),
  ]
}

/** The value stands in what the model was sent, or in an earlier turn. */
function isKnown(id: string, author: Turn, { request, turns, searchText }: Trajectory): boolean {
  const sought = id.toLowerCase()
  if (request.toLowerCase().includes(sought)) return true
  if (inputMessagesOf(author.step).some((message) => messageText(message).toLowerCase().includes(sought)))
    return true
  return turns.some((turn) => turn.position < author.position && searchText(turn).includes(sought))
}

type PlacedValue = { path: string; value: string }

/** The first id, e-mail or long number that fits, as opposed to words that a model may choose freely. */
function findId(value: unknown, path: string, fits: (id: string) => boolean): PlacedValue | undefined {
  return findValue(value, path, (text) => (isId(text) && fits(text) ? text : undefined))
}

function isId(text: string): boolean {
  return /^\S{4,80}$/.test(text) && /\d{3}|\S@\S/.test(text) && !/^https?:/.test(text)
}

function describeOutcome(turn: Turn): string {
  return hasFailed(turn.step) ? ', and it failed' : ', and nothing came back'
}

const MOST_VALUES = 200

function findPlaceholder(value: unknown): PlacedValue | undefined {
  return findValue(value, '', (text) => {
    const found = (text.length <= 80 ? text : (assignedPlaceholder.exec(text)?.[1] ?? '')).trim()
    return placeholder.test(found) ? found : undefined
  })
}

function findValue(
  value: unknown,
  path: string,
  pick: (text: string) => string | undefined,
  search = { left: MOST_VALUES },
): PlacedValue | undefined {
  search.left -= 1
  if (search.left < 0) return undefined
  if (typeof value === 'string' || typeof value === 'number') {
    const picked = pick(String(value))
    return picked === undefined ? undefined : { path, value: picked }
  }
  if (typeof value !== 'object' || value === null) return undefined
  for (const [key, item] of Object.entries(value)) {
    const found = findValue(item, path === '' ? key : `${path}.${key}`, pick, search)
    if (found !== undefined) return found
  }
  return undefined
}

/** In code: a name that is given a placeholder. */
const assignedPlaceholder =
  /[=(:]\s*["']((?:your|example|placeholder|dummy)[_-]\w+|\/?path\/to\/[^"'\n]{1,60}|<[^<>"'\n]{1,40}>)["']/i

/** Calls of tools that were not offered. */
function findUnknownTools({ decisions, hasFailed: isFailed }: Trajectory): Clue[] {
  return decisions.flatMap((turn) => {
    const offered = turn.step.toolDefinitions
    if (offered === undefined || offered.length === 0) return []
    const unknown = turn.calls.find(({ name }) => offered.every((tool) => tool.name !== name))
    // Providers run some tools themselves and name them differently.
    const answered = turn.actions.find((action) => action.name === unknown?.name && !hasFailed(action.step))
    if (unknown === undefined || answered !== undefined) return []
    const isCorrected = decisions.some(({ position, calls }) => position > turn.position && calls.length > 0)
    if (isCorrected && !isFailed) return []
    return [
      toClue(
        'bad-argument/unknown-tool',
        turn,
        1,
        `${capitalize(nameTurn(turn))} called ${unknown.name}, which it was not offered.`,
        [evidenceAt(turn, 'output', `→ ${unknown.name}`)],
      ),
    ]
  })
}

/** Calls whose arguments break the schema of the tool, if they failed. */
function findSchemaBreaks(run: Trajectory): Clue[] {
  return run.decisions.flatMap((turn) => {
    for (const action of turn.actions) {
      if (!hasFailed(action.step) || (!run.hasFailed && run.isRecovered(action))) continue
      const tool = turn.step.toolDefinitions?.find(({ name }) => name === action.name)
      const given = turn.calls.find(({ name }) => name === action.name)?.arguments
      const broken = tool === undefined ? undefined : breakOfSchema(given, tool.parameters)
      if (broken === undefined) continue
      return [
        toClue(
          'bad-argument/schema',
          turn,
          1,
          `${capitalize(nameTurn(turn))} called ${action.name} with ${broken}, against its schema.`,
          [evidenceAt(action, 'arguments', broken)],
        ),
      ]
    }
    return []
  })
}

const MIN_WORDS = 40
const LEAST_SHARED = 0.18

/** The first task that is handed on has hardly a word of what the user asked for. */
function findOffTopic({ request, decisions }: Trajectory): Clue[] {
  const [first] = decisions
  if (first === undefined) return []
  const [asked, said] = [tellingWords(request), tellingWords(first.text)]
  if (asked.size < 8 || said.size < MIN_WORDS) return []
  const shared = [...asked].filter((word) => said.has(word)).length / asked.size
  if (shared > LEAST_SHARED) return []
  return [
    toClue(
      'bad-argument/off-topic',
      first,
      1,
      `${capitalize(nameTurn(first))} has hardly a word of what the user asked for.`,
      [evidenceAt(first, 'output', first.text)],
    ),
  ]
}

function tellingWords(text: string): Set<string> {
  return new Set(
    text
      .slice(0, 8000)
      .toLowerCase()
      .match(/\p{L}{4,}/gu) ?? [],
  )
}
