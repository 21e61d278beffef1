import { countOf } from '../format/format-number.ts'
import { ownsError } from '../session/failure.ts'
import type { Session } from '../session/session.ts'
import type { Step } from '../session/step.ts'
import { requireOptions } from './required-argument.ts'
import { readSubject, type SessionSubject } from './session-subject.ts'
import type { Verdict } from './verdict.ts'

export type ErrorOptions = {
  /** Ignores errors that a retry or an enclosing step recovered from. */
  allowHandled?: boolean | undefined
}

/**
 * Checks that a session has no errors: none thrown by a step, and none returned by a tool as its result.
 *
 * @example
 * hasNoErrors(session, { allowHandled: true })
 */
export function hasNoErrors(subject: SessionSubject, options?: ErrorOptions): Verdict {
  const session = readSubject(subject)
  const { allowHandled = false } = requireOptions(options)
  const failed = session.steps.filter(
    (step) => ownsError(step) && !(allowHandled && step.error?.isHandled === true),
  )
  const [first] = failed
  if (first === undefined)
    return {
      pass: true,
      message: `Expected the session to have an error, but it has none.`,
    }
  const lines = failed.map((step) => describeFailure(session, step))
  return {
    pass: false,
    message: `Expected the session to have no errors, but it has ${countOf(failed.length, 'error')}:\n${lines.join('\n')}`,
    stepId: first.id,
  }
}

function describeFailure({ steps }: Session, step: Step): string {
  const { error } = step
  const what = error === undefined ? step.status : `${error.type}: ${error.message.split('\n', 1)[0]}`
  return `  #${steps.indexOf(step) + 1} ${step.name}: ${what}`
}
