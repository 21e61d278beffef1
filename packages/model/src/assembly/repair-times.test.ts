import { expect, test } from 'vitest'
import { outline, SESSION_START } from '../../test/outline.ts'
import { resolveSteps } from './resolve-steps.ts'

test('a child rounded down by a coarse clock starts with its parent; one that is really early stays early', () => {
  const steps = resolveSteps([
    outline({ id: 'early', from: -5, to: 9, parentId: 'root' }),
    outline({ id: 'coarse', from: 0, to: 0, parentId: 'root' }),
    outline({ id: 'root', from: 0.4, to: 10 }),
  ])

  expect(steps.map(({ id, startedAtMs, endedAtMs }) => [id, startedAtMs, endedAtMs])).toEqual([
    ['early', SESSION_START - 5, SESSION_START + 9],
    ['root', SESSION_START + 0.4, SESSION_START + 10],
    ['coarse', SESSION_START + 0.4, SESSION_START + 0.4],
  ])
})
