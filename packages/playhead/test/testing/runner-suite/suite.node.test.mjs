import { describe } from 'node:test'
import * as playhead from 'playhead'
import * as kit from 'playhead/node-test'
import shared from 'shared-suite'

const { test, expect } = kit
const { lookUp } = shared.defineTests({ playhead, kit, runner: 'node' })

describe('at the same time', { concurrency: true }, () => {
  for (const id of ['c_a', 'c_b', 'c_c'])
    test(`as ${id}`, async ({ session, t }) => {
      for (let round = 0; round < 3; round += 1) await lookUp(id)
      expect(session).toHaveCalled('look_up', { args: [id], times: 3 })
      t.assert.toMatchTrajectory(session, [{ tool: 'look_up', args: [id] }], { mode: 'onlyTheseTools' })
    })
})
test('takes too long', { timeout: 60 }, async () => {
  await lookUp('c_1')
  await new Promise((resolve) => setTimeout(resolve, 5_000).unref())
})
test.skip('is skipped', () => {})
