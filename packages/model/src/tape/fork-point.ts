import type { ForkEdit } from '../session/rerun.ts'
import type { Session } from '../session/session.ts'
import { stepTitle, type Step } from '../session/step.ts'
import { visibleText } from '../format/visible-text.ts'
import { readEntries, type TapeEntry } from './tape-entry.ts'

/**
 * Where a fork leaves the tape: the model call or action of this step. Of a step that is neither, the first one after
 * it. Undefined if nothing is asked from there on.
 */
export function findForkPoint(session: Session, stepId: string): TapeEntry | undefined {
  const number = session.steps.findIndex(({ id }) => id === stepId) + 1
  return number === 0 ? undefined : readEntries(session).find((entry) => entry.number >= number)
}

const editsOf: Record<TapeEntry['kind'], (keyof ForkEdit)[]> = {
  model: ['result', 'system', 'prompt', 'model'],
  action: ['result', 'args', 'model'],
}

/** Why an edit can't be made at a step, as a sentence; undefined if it can. */
export function whyNotEditable(session: Session, step: Step, edit: ForkEdit): string | undefined {
  const given = Object.keys(edit) as (keyof ForkEdit)[]
  const point = findForkPoint(session, step.id)
  const number = session.steps.indexOf(step) + 1
  const what = `Step ${number} (${visibleText(stepTitle(step))})`
  if (point === undefined) return `${what} can’t be run again: no model call or recorded action follows it.`
  const isExact = point.step.id === step.id
  const possible = isExact ? editsOf[point.kind] : ['model']
  const wrong = given.find((field) => !possible.includes(field))
  if (wrong === undefined) return undefined
  if (!isExact)
    return `${what} has no ${describe(wrong)} to change. The next step that has one is ${point.number} (${visibleText(stepTitle(point.step))}).`
  return `${what} is ${point.kind === 'model' ? 'a model call' : 'an action'}, which has no ${describe(wrong)} to change.`
}

function describe(field: keyof ForkEdit): string {
  return { result: 'result', args: 'arguments', system: 'system prompt', prompt: 'prompt', model: 'model' }[
    field
  ]
}
