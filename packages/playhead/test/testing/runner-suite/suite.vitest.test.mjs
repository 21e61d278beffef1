import { describe } from 'vitest'
import * as playhead from 'playhead'
import * as kit from 'playhead/vitest'
import shared from 'shared-suite'

const { test, expect } = kit
const { lookUp } = shared.defineTests({ playhead, kit, runner: 'vitest' })

describe('at the same time', () => {
  for (const id of ['c_a', 'c_b', 'c_c'])
    test.concurrent(`as ${id}`, async ({ session }) => {
      for (let round = 0; round < 3; round += 1) await lookUp(id)
      expect(session).toHaveCalled('look_up', { args: [id], times: 3 })
      expect(session).toMatchTrajectory([{ tool: 'look_up', args: [id] }], { mode: 'onlyTheseTools' })
    })
})

let tries = 0
test('works at the second try', { retry: 2 }, async ({ session }) => {
  tries += 1
  await lookUp('c_1')
  expect(session).toHaveCalled('look_up', { times: tries - 1 || 7 })
})
test('takes too long', { timeout: 60 }, async () => {
  await lookUp('c_1')
  await new Promise(() => {})
})
test.fails('is meant to fail', async ({ session }) => {
  expect(session).toHaveCalled('look_up')
})
test.each([
  ['c_4', 1],
  ['c_5', 2],
])('each %s', async (id, times) => {
  for (let round = 0; round < times; round += 1) await lookUp(id)
  expect(playhead.getSession()).toHaveCalled('look_up', { args: [id], times })
})
test.for([{ id: 'c_6' }])('for c_6', async ({ id }, { session }) => {
  await lookUp(id)
  expect(session).toHaveCalled('look_up', { args: [id] })
})
const withUser = test.extend({ user: 'c_9' })
withUser('own fixtures', async ({ session, user }) => {
  await lookUp(user)
  expect(session).toHaveCalled('look_up', { args: ['c_9'] })
})
test.skip('is skipped', () => {})
