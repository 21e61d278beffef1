import type { Session, Step } from '@playhead/model'
import { expect, test } from 'vitest'
import { mergeSteps } from './merge-steps.ts'
import { makeSummary } from '../../../model/test/make-summary.ts'
import { makeStep } from '../../test/make-session.ts'

const step = (id: string, offsetMs: number, durationMs: number | null) =>
  makeStep({ id, offsetMs, durationMs })

function sessionOf(steps: Step[]): Session {
  return { session: makeSummary({ endState: 'running', stepCount: steps.length }), steps }
}

test('a finished step replaces the running one', () => {
  const merged = mergeSteps(sessionOf([step('a', 0, null)]), {
    steps: [step('a', 0, 20), step('b', 30, null)],
  })
  expect(merged.steps).toEqual([step('a', 0, 20), step('b', 30, null)])
  expect(merged.session.stepCount).toBe(2)
})

test('a start event that arrives after the end is ignored', () => {
  expect(mergeSteps(sessionOf([step('a', 0, 20)]), { steps: [step('a', 0, null)] }).steps).toEqual([
    step('a', 0, 20),
  ])
})

test('steps stay sorted by start, relative to the start of the session', () => {
  const late = { ...step('c', 10, 5), offsetMs: 0 }
  const merged = mergeSteps(sessionOf([step('a', 0, 50), step('b', 30, 5)]), { steps: [late] })
  expect(merged.steps.map(({ id, offsetMs }) => [id, offsetMs])).toEqual([
    ['a', 0],
    ['c', 10],
    ['b', 30],
  ])
})

test('a new summary replaces the old one', () => {
  const { session, steps } = sessionOf([step('a', 0, 20)])
  const ended = { ...session, endState: 'success' as const }
  expect(mergeSteps({ session, steps }, { steps: [], session: ended })).toEqual({ session: ended, steps })
})

test('a step that has ended is not changed by a later copy', () => {
  const failed = { ...step('a', 0, 20), status: 'error' as const }
  const forged = { ...step('a', 0, 20), status: 'ok' as const }
  expect(mergeSteps(sessionOf([failed]), { steps: [forged] }).steps).toEqual([failed])
})
