import { hasFailed } from '../session/failure.ts'
import { argumentsOf } from '../session/problem.ts'
import { inputMessagesOf, messageText } from '../session/step-input-output.ts'
import { capitalize, evidenceAt, nameTurn, toClue } from './clue.ts'
import { isEmptyResult } from './empty-result.ts'
import type { Clue } from './finding.ts'
import { findMisreadings } from './misread-result.ts'
import { callText, findTask, isWrite, resultOf, type Trajectory, type Turn } from './trajectory.ts'
import { isFigure, normalizeText, statedValues, statesValue } from './values-in-text.ts'

/** Finds answers that do not come from what was found: plausible, but made up. */
export function findPlausibleFailures(run: Trajectory): Clue[] {
  return [
    ...findInventedAnswer(run),
    ...findMisreadings(run),
    ...(run.hasFailed ? [...findAnswerOrigin(run), ...findUnsourced(run), ...findEmptyResults(run)] : []),
  ]
}

function isUnsuccessfulRead(turn: Turn): boolean {
  if (isWrite(turn)) return false
  return hasFailed(turn.step) || isEmptyResult(resultOf(turn), argumentsOf(turn.step))
}

/** Every read came back empty or failed, and still the answer has figures that stand nowhere before. */
function findInventedAnswer(run: Trajectory): Clue[] {
  const { answer } = run
  if (answer === undefined || answer.calls.length > 0) return []
  const reads = run.actions.filter(
    (turn) => turn.position < answer.position && turn.effect === 'read' && turn.author !== undefined,
  )
  const last = reads.at(-1)
  if (last === undefined || !reads.every(isUnsuccessfulRead)) return []
  const known = [run.request, ...inputMessagesOf(answer.step).map(messageText)]
    .concat(
      run.turns
        .filter(({ position }) => position < answer.position)
        .map((turn) => `${turn.text} ${callText(turn)}`),
    )
    .map(normalizeText)
  const invented = statedValues(answer.text).filter(
    (value) => isTelling(value) && !known.some((text) => statesValue(text, value)),
  )
  if (invented.length === 0) return []
  return [
    toClue(
      'fail-plausible/invented-answer',
      answer,
      1,
      `${capitalize(nameTurn(last))} ${hasFailed(last.step) ? 'failed' : 'returned nothing'}, yet ${nameTurn(answer)} answers with ${invented.slice(0, 3).join(', ')}, which appears nowhere before.`,
      [
        evidenceAt(last, hasFailed(last.step) ? 'error' : 'output', last.text || 'nothing'),
        evidenceAt(answer, 'output', answer.text),
      ],
    ),
  ]
}

/** A figure with at least three digits, or one with a fraction; short counts are often steps of a list. */
function isTelling(value: string): boolean {
  return isFigure(value) && value.replaceAll(/\D/g, '').length >= 3
}

const LEAST_SHARE = 0.1
/** A value that an action returned comes from somewhere, and one that stands in a call may be right. */
const FOUND_BY_ACTION = 0.25
const WRITTEN_IN_ACT = 0.7
/** A session that changes something is judged by that, less by what it says. */
const BESIDE_CHANGES = 0.4

/** Where the values of the answer first appear. A model that states them without a source may have made them up. */
function findAnswerOrigin(run: Trajectory): Clue[] {
  const { answer, turns } = run
  if (answer === undefined || !run.isConcluded) return []
  const acting = new Set(run.acts)
  const task = findTask(run)
  const share = run.actions.some((action) => isWrite(action)) ? BESIDE_CHANGES : 1
  const request = normalizeText(`${run.request} ${task?.text ?? ''}`)
  const values = statedValues(answer.text).filter((value) => !statesValue(request, value))
  if (values.length === 0) return []
  const found = new Map<Turn, string[]>()
  let open = values
  for (const turn of turns) {
    if (open.length === 0 || turn.position > answer.position) break
    if (turn.role === 'user' || turn === task) continue
    const text = normalizeText(
      turn.role === 'action' ? turn.text : `${turn.text} ${JSON.stringify(turn.calls)}`,
    )
    const stated = open.filter((value) => statesValue(text, value))
    if (stated.length === 0) continue
    found.set(turn, stated)
    open = open.filter((value) => !stated.includes(value))
  }
  return [...found].flatMap(([turn, stated]) => {
    const part = stated.length / values.length
    if (part < LEAST_SHARE) return []
    const shown = stated.slice(0, 3).join(', ')
    const isFound = turn.role === 'action'
    return [
      toClue(
        'fail-plausible/answer-origin',
        isFound ? (turn.author ?? turn) : turn,
        share * part * (isFound ? FOUND_BY_ACTION : acting.has(turn) ? WRITTEN_IN_ACT : 1),
        isFound
          ? `The answer's ${shown} comes from ${nameTurn(turn)}.`
          : `The answer's ${shown} first appears in ${nameTurn(turn)}, which does not say where it comes from.`,
        [evidenceAt(turn, 'output', turn.text), evidenceAt(answer, 'output', answer.text)],
      ),
    ]
  })
}

/** As many new values as make a turn fully suspicious, and the fewest that count. */
const MANY_VALUES = 8
const FEWEST_VALUES = 2
const MOST_UNSOURCED = 12

/** Turns that state many values that stand nowhere before. */
function findUnsourced(run: Trajectory): Clue[] {
  const task = findTask(run)
  const seen = new Set(statedValues(run.request, Infinity))
  const clues: Clue[] = []
  for (const turn of run.turns) {
    const values = statedValues(turn.text, Infinity)
    const fresh = values.filter((value) => !seen.has(value))
    for (const value of fresh) seen.add(value)
    const isCounted = turn.role === 'decision' && turn !== task && !turn.isDelegate
    if (!isCounted || fresh.length < FEWEST_VALUES) continue
    clues.push(
      toClue(
        'fail-plausible/unsourced',
        turn,
        Math.min(1, fresh.length / MANY_VALUES),
        `${capitalize(nameTurn(turn))} states ${fresh.slice(0, 3).join(', ')}, which appears nowhere before.`,
        [evidenceAt(turn, 'output', turn.text)],
      ),
    )
    if (clues.length === MOST_UNSOURCED) break
  }
  return clues
}

const MOST_EMPTY = 20

/** Calls that returned nothing. The first one counts most, unless a call had failed before it. */
function findEmptyResults({ actions }: Trajectory): Clue[] {
  const firstFailed = actions.find(({ step }) => hasFailed(step))?.position ?? Infinity
  const empty = actions.filter(
    (turn) =>
      turn.effect === 'read' &&
      !hasFailed(turn.step) &&
      callText(turn).length > 12 &&
      isEmptyResult(resultOf(turn), argumentsOf(turn.step)),
  )
  return empty
    .slice(0, MOST_EMPTY)
    .map((turn, index) =>
      toClue(
        'fail-plausible/empty-result',
        turn.author ?? turn,
        index === 0 && turn.position < firstFailed ? 1 : 0.4,
        `${capitalize(nameTurn(turn))} returned nothing.`,
        [evidenceAt(turn, 'output', turn.text || 'nothing')],
      ),
    )
}
