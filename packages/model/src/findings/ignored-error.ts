import { hasFailed } from '../session/failure.ts'
import { argumentsOf, wordsOf } from '../session/problem.ts'
import { capitalize, evidenceAt, nameTurn, toClue } from './clue.ts'
import { errorText } from './error.ts'
import type { Clue } from './finding.ts'
import { admission } from './phrases.ts'
import { isWrite, type Trajectory, type Turn } from './trajectory.ts'

const MOST_FAILURES = 50

/** Finds failed actions that nothing after them retried, replaced or mentioned. */
export function findIgnoredErrors(run: Trajectory): Clue[] {
  const failed = run.actions.filter(({ step, author }) => hasFailed(step) && author !== undefined)
  return failed.slice(0, MOST_FAILURES).flatMap((turn) => {
    const after = run.turns.slice(run.turns.indexOf(turn) + 1)
    const next = after.find(({ role }) => role === 'decision')
    // The session ended with the error, or nobody was there to ignore it.
    if (next === undefined || isRetried(turn, after) || isMentioned(turn, after)) return []
    const how = run.hasFailed ? 'and the session went on' : 'and the session ended as if it had worked'
    return [
      toClue(
        'ignored-error/unnoticed',
        next,
        1,
        `${capitalize(nameTurn(turn))} failed (${errorText(turn.step)}). Nothing retried or mentioned it, ${how}.`,
        [
          evidenceAt(turn, 'error', errorText(turn.step)),
          evidenceAt(next, 'output', next.text || callsOf(next)),
        ],
      ),
    ]
  })
}

function callsOf({ calls }: Turn): string {
  return calls.map(({ name }) => `→ ${name}`).join(', ')
}

/** Another try, or another way: the same tool, one for the same thing, or for a read any other read. */
function isRetried(failed: Turn, after: readonly Turn[]): boolean {
  const object = objectOf(failed.name)
  const given = JSON.stringify(argumentsOf(failed.step)) ?? ''
  return after.some((turn) => {
    if (turn.role !== 'action' || hasFailed(turn.step))
      return turn.role === 'action' && turn.name === failed.name
    if (turn.name === failed.name) return true
    if (isWrite(turn) !== isWrite(failed)) return false
    if (!isWrite(failed)) return true
    return (
      object.some((word) => objectOf(turn.name).includes(word)) ||
      JSON.stringify(argumentsOf(turn.step)) === given
    )
  })
}

/** `refund`, `payment` in `refund_payment`: what the words of two tools for the same thing share. */
function objectOf(name: string): string[] {
  return wordsOf(name).filter((word) => word.length > 3)
}

function isMentioned(failed: Turn, after: readonly Turn[]): boolean {
  const words = new Set(tellingWords(errorText(failed.step)))
  return after.some(({ role, text }) => {
    if (role !== 'decision' || text === '') return false
    if (admission.test(text)) return true
    return tellingWords(text).filter((word) => words.has(word)).length >= 3
  })
}

function tellingWords(text: string): string[] {
  return text.toLowerCase().match(/\p{L}{5,}/gu) ?? []
}
