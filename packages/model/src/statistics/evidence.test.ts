import { expect, test } from 'vitest'
import { makeSummary } from '../../test/make-summary.ts'
import type { EndState } from '../session/end-state.ts'
import type { ForkEdit } from '../session/rerun.ts'
import { weighForks } from './evidence.ts'

const forks = (count: number, endState: EndState, edit?: ForkEdit, stepId = 'five') =>
  Array.from({ length: count }, () =>
    makeSummary({
      parentId: 'a'.repeat(32),
      parentStepId: stepId,
      lane: 'fork',
      endState,
      ...(edit !== undefined && { edit }),
    }),
  )

test('five of five with the edit and none of five without are evidence', () => {
  const edit = { result: { id: 'c_42', plan: 'pro' } }
  const reordered = { result: { plan: 'pro', id: 'c_42' } }

  const evidence = weighForks([
    ...forks(4, 'success', edit),
    ...forks(1, 'success', reordered),
    ...forks(5, 'fail'),
  ])

  expect(evidence).toEqual([
    {
      stepId: 'five',
      edit,
      passed: 5,
      total: 5,
      control: { passed: 0, total: 5 },
      p: expect.closeTo(1 / 252),
    },
  ])
})

test('each step and each edit is weighed against its own control', () => {
  const evidence = weighForks([
    ...forks(1, 'success', { model: 'gpt-5' }),
    ...forks(2, 'fail', { model: 'gpt-4o' }),
    ...forks(1, 'success'),
    ...forks(1, 'success', { system: 'be kind' }, 'seven'),
    ...forks(1, 'running', { system: 'be kind' }, 'seven'),
    ...forks(1, 'lost', undefined, 'seven'),
    makeSummary({ parentId: 'a'.repeat(32), lane: 'live-model' }),
  ])

  expect(
    evidence.map(({ stepId, edit, passed, total, control, p }) => [stepId, edit, passed, total, control, p]),
  ).toEqual([
    ['five', { model: 'gpt-5' }, 1, 1, { passed: 1, total: 1 }, 1],
    ['five', { model: 'gpt-4o' }, 0, 2, { passed: 1, total: 1 }, 1],
    ['seven', { system: 'be kind' }, 1, 1, { passed: 0, total: 0 }, null],
  ])
})
