import { visibleText } from '../format/visible-text.ts'
import { hasFailed, ownsError } from '../session/failure.ts'
import { argumentsOf } from '../session/problem.ts'
import { isDistinctive } from '../provenance/value-index.ts'
import { endOffsetMs, type Step } from '../session/step.ts'
import { capitalize, evidenceAt, nameTurn, quoteMatch, toBareTurn, toClue } from './clue.ts'
import type { Clue } from './finding.ts'
import { impossibleNow, obstacle } from './phrases.ts'
import { isWrite, type Trajectory, type Turn } from './trajectory.ts'

/** Finds steps that failed, and blames the step that made them fail. */
export function findErrors(run: Trajectory): Clue[] {
  return [
    ...findFatal(run),
    ...findFailedCalls(run),
    ...findBlocked(run),
    ...findRegret(run),
    ...findObstacles(run),
  ]
}

/** The error that ended the session. */
function findFatal(run: Trajectory): Clue[] {
  if (!run.hasFailed) return []
  const last = run.steps.findLast((step) => ownsError(step) && step.error?.isHandled !== true)
  if (last === undefined || wentOn(last, run)) return []
  const known = run.turnOf.get(last.id)
  // An error of the whole session says that it failed, not where.
  if (known === undefined && last.parentId === null && run.turns.length > 1) return []
  const turn = known ?? toBareTurn(last, run.steps)
  const blamed = isCausedByCall(last) ? (turn.author ?? turn) : turn
  const how = describeError(last)
  const sentence =
    blamed === turn
      ? `${capitalize(nameTurn(turn))} failed${how}.`
      : `${capitalize(nameTurn(blamed))} called ${visibleText(turn.name)} in a way that failed${how}.`
  return [toClue('error/fatal', blamed, 1, sentence, [evidenceAt(turn, 'error', errorText(last))], turn)]
}

/** A model took its turn after the step had failed. */
function wentOn(failed: Step, { decisions }: Trajectory): boolean {
  const last = decisions.at(-1)
  return last !== undefined && last.step.id !== failed.id && last.step.offsetMs >= endOffsetMs(failed)
}

const MOST_FAILED_CALLS = 20

/** Calls that failed. The first one counts most, and less if the same tool worked later. */
function findFailedCalls(run: Trajectory): Clue[] {
  const failed = run.actions.filter(({ step }) => hasFailed(step)).slice(0, MOST_FAILED_CALLS)
  const hasWrites = run.actions.some((action) => isWrite(action))
  return failed.map((turn, index) => {
    const isRecovered = run.isRecovered(turn)
    const blamed = turn.author ?? turn
    const later = isRecovered ? ' Later calls worked.' : ''
    const sentence = `${capitalize(nameTurn(turn))} failed${describeError(turn.step)}.${later}`
    // A look-up that failed once matters little in a session that goes on to change things.
    const isMinor = hasWrites && !isWrite(turn) && (isRecovered || hasLaterRead(turn, run))
    const strength = (index === 0 ? 1 : 0.4) * (isRecovered ? 0.7 : 1) * (isMinor ? 0.3 : 1)
    return toClue(
      'error/failed-call',
      blamed,
      strength,
      sentence,
      [evidenceAt(turn, 'error', errorText(turn.step))],
      turn,
    )
  })
}

function hasLaterRead({ position }: Turn, { actions }: Trajectory): boolean {
  return actions.some((action) => action.position > position && !isWrite(action) && !hasFailed(action.step))
}

/** A write that changed the same object earlier may be why a later write was refused. */
function findBlocked(run: Trajectory): Clue[] {
  const changed = new Map<string, Turn>()
  const clues: Clue[] = []
  for (const turn of run.actions) {
    if (!isWrite(turn)) continue
    for (const id of idsIn(argumentsOf(turn.step))) {
      const earlier = changed.get(id)
      if (!hasFailed(turn.step)) {
        if (earlier === undefined) changed.set(id, turn)
        continue
      }
      if (earlier === undefined || earlier.name === turn.name) continue
      const blamed = earlier.author ?? earlier
      clues.push(
        toClue(
          'error/blocked-later',
          blamed,
          1,
          `${capitalize(nameTurn(earlier))} changed ${id}; after that, ${nameTurn(turn)} failed on it${describeError(turn.step)}.`,
          [evidenceAt(earlier, 'arguments', id), evidenceAt(turn, 'error', errorText(turn.step))],
          turn,
        ),
      )
      break
    }
  }
  return clues
}

/** The agent had to say that something is impossible now: blames the last change before it. */
function findRegret({ turns }: Trajectory): Clue[] {
  let last: Turn | undefined
  for (const turn of turns) {
    if (turn.role === 'action' && isWrite(turn) && !hasFailed(turn.step)) last = turn
    if (last === undefined || turn.role !== 'decision' || !impossibleNow.test(turn.text)) continue
    const quote = quoteMatch(turn.text, impossibleNow)
    return [
      toClue(
        'error/regretted',
        last.author ?? last,
        1,
        `After ${nameTurn(last)}, ${nameTurn(turn)} had to say: "${quote}"`,
        [evidenceAt(last, 'arguments', nameTurn(last)), evidenceAt(turn, 'output', quote)],
      ),
    ]
  }
  return []
}

/** Values that name one object: at least three digits in them. */
function idsIn(given: unknown): string[] {
  if (typeof given !== 'object' || given === null) return []
  return Object.values(given).filter(
    (value): value is string =>
      isDistinctive(value) && typeof value === 'string' && /^\S*\d{3}\S*$/.test(value),
  )
}

/** An agent that ran into a wall: a page that refuses, a program that crashed. */
function findObstacles({ decisions }: Trajectory): Clue[] {
  return decisions
    .filter(({ isDelegate, text }) => isDelegate && obstacle.test(text))
    .slice(0, MOST_FAILED_CALLS)
    .map((turn, index) => {
      const text = quoteMatch(turn.text, obstacle)
      return toClue(
        'error/obstacle',
        turn,
        index === 0 ? 1 : 0.6,
        `${capitalize(nameTurn(turn))} got no further: ${text}`,
        [evidenceAt(turn, 'output', text)],
      )
    })
}

/** A refusal of what was asked, as opposed to a failure of the tool itself. */
function isCausedByCall({ error }: Step): boolean {
  const text = `${error?.type ?? ''} ${error?.message ?? ''}`
  return /invalid|required|must|missing|not found|unknown|cannot|not allowed|bad request|\b4(?:0[04]|22)\b|validation|TypeError|ValueError|KeyError|schema|expected/i.test(
    text,
  )
}

export function errorText({ error, outputPreview }: Step): string {
  if (error === undefined) return outputPreview ?? 'an error'
  return [error.type, error.message].filter((part) => part !== '').join(': ')
}

/** Without a full stop at its end: the sentence has its own. */
function describeError(step: Step): string {
  const text = visibleText(errorText(step))
    .slice(0, 140)
    .replace(/[.\s]+$/, '')
  return text === '' ? '' : `: ${text}`
}
