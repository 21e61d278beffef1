import { isRecord, readSubject, requireOptions, type Session, type SessionSubject } from '@playhead/model'
import { replayLine } from '../sessions/replay-link.ts'
import type { Verdict } from './checks.ts'

/** What a judge thinks: yes or no, a number to compare with `atLeast`, or either with a reason. */
export type Judgement =
  | boolean
  | number
  | {
      value: boolean | number
      comment?: string | undefined
      /** The step that shows why. */
      stepId?: string | undefined
    }

/**
 * Judges a session, usually by asking a model. You write it: whatever it calls is recorded and priced like every other call
 * of the test.
 */
export type Judge = (session: Session) => Judgement | Promise<Judgement>

export type JudgeOptions = {
  /** What a number has to reach; 0.5 by default. */
  atLeast?: number | undefined
  /** The name of the score that the session gets; "judge" by default. */
  name?: string | undefined
}

/**
 * Asks a judge about a session. The session of a running test gets what the judge says as a score.
 *
 * @example
 * await judged(session, async ({ steps }) => (await askModel(rubric, steps)).score, { atLeast: 0.8, name: "helpful" })
 */
export async function judged(
  subject: SessionSubject,
  judge: Judge,
  options?: JudgeOptions,
): Promise<Verdict> {
  const session = readSubject(subject)
  const { atLeast = 0.5, name = 'judge' } = requireOptions(options)
  if (typeof judge !== 'function')
    throw new TypeError(
      'toBeJudged needs a function that takes the session: toBeJudged(async (session) => true).',
    )
  if (typeof atLeast !== 'number' || Number.isNaN(atLeast))
    throw new TypeError('The option atLeast must be a number.')
  if (typeof name !== 'string' || name === '') throw new TypeError('The option name must be a text.')
  const { value, comment, stepId } = readJudgement(await judge(session))
  giveScore(subject, name, { value, comment, stepId })
  const pass = typeof value === 'boolean' ? value : value >= atLeast
  const said =
    typeof value === 'boolean' ? (value ? 'yes' : 'no') : `${value}, at least ${atLeast} was expected`
  const why = comment === undefined ? '' : `\n  ${comment}`
  const message = pass
    ? `Expected the judge "${name}" to reject the session, but it said ${said}.${why}`
    : `Expected the judge "${name}" to accept the session, but it said ${said}.${why}`
  return {
    pass,
    message: message + replayLine(session.session, stepId),
    ...(stepId !== undefined && { stepId }),
  }
}

type Read = { value: boolean | number; comment: string | undefined; stepId: string | undefined }

function readJudgement(given: unknown): Read {
  const said = isRecord(given) ? given : { value: given }
  const { value, comment, stepId } = said
  if (typeof value !== 'boolean' && (typeof value !== 'number' || Number.isNaN(value)))
    throw new TypeError(
      'The judge must return true, false, a number, or { value, comment }, for example { value: 0.8, comment: "polite" }.',
    )
  return {
    value,
    comment: typeof comment === 'string' && comment !== '' ? comment : undefined,
    stepId: typeof stepId === 'string' && stepId !== '' ? stepId : undefined,
  }
}

/** Recordings and sessions from the server can't be changed. */
function giveScore(subject: SessionSubject, name: string, { value, comment, stepId }: Read): void {
  const { score } = subject as { score?: (...args: unknown[]) => void }
  if (typeof score !== 'function') return
  score.call(subject, name, value, {
    source: 'model',
    ...(comment !== undefined && { comment }),
    ...(stepId !== undefined && { step: stepId }),
  })
}
