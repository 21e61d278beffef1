import { expect, test } from 'vitest'
import { agentRun, does, says } from '../../test/agent-run.ts'
import { firstSuspect, nothing } from '../../test/first-suspect.ts'
import { diagnoseSession } from './diagnose-session.ts'

const shirts = Object.fromEntries(
  Array.from({ length: 12 }, (_, index) => [`v${index}`, { id: `v${index}`, available: index < 10 }]),
)
const look = [says('', { get_product: { id: 'p' } }), does('get_product', { id: 'p' }, { variants: shirts })]

test('a count that the result does not have is a finding', () => {
  expect(firstSuspect(agentRun([...look, says('There are 11 available options in the shop.')]))).toEqual({
    step: 's2',
    kind: 'fail-plausible',
    sentence: 'Step 3 assistant says "are 11 available options", but step 2 get_product returned 12 or 10.',
  })
})

test('a count of the whole list, or of those that share a value, is right', () => {
  for (const count of [12, 10])
    expect(diagnoseSession(agentRun([...look, says(`There are ${count} options in the shop.`)]))).toEqual(
      nothing,
    )
})

test('a denial of what a result has explains a failure', () => {
  const run = (result: unknown) =>
    agentRun(
      [
        says('', { get_order: { id: 'o' } }),
        does('get_order', { id: 'o' }, result),
        says('That order does not have a tracking number.'),
      ],
      { endState: 'fail' },
    )
  expect(firstSuspect(run({ tracking_id: ['194496721133'] }))).toMatchObject({
    step: 's2',
    kind: 'fail-plausible',
  })
  expect(firstSuspect(run({ tracking_id: [] }))).toMatchObject({ step: 's0' })
})

test('a number that was found for something else explains a failure', () => {
  const run = (item: string) =>
    agentRun(
      [
        says('', { get_order: { id: 'o' } }),
        does('get_order', { id: 'o' }, { items: [item], tracking: '194496721133' }),
        says('The tracking number for the tablet is 194496721133.'),
      ],
      { endState: 'fail', request: 'Where is my tablet?' },
    )
  expect(firstSuspect(run('Espresso Machine'))).toMatchObject({ step: 's2', kind: 'fail-plausible' })
  expect(firstSuspect(run('Tablet'))).toMatchObject({ step: 's0' })
})
