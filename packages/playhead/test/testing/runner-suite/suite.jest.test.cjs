const playhead = require('playhead')
const kit = require('playhead/jest')
const shared = require('shared-suite')

const { test, expect } = kit
const { lookUp } = shared.defineTests({ playhead, kit, runner: 'jest' })
globalThis.lookUp = lookUp

test('takes too long', async () => {
  await lookUp('c_1')
  await new Promise(() => {})
}, 60)
test.each([
  ['c_4', 1],
  ['c_5', 2],
])('each %s', async (id, times, { session }) => {
  for (let round = 0; round < times; round += 1) await lookUp(id)
  expect(session).toHaveCalled('look_up', { args: [id], times })
})
test('runs an agent of the config', async ({ session }) => {
  await kit.runAgent('finder', { text: 'c_8' })
  expect(session).toHaveCalled('look_up', { args: ['c_8'] })
})
test.skip('is skipped', () => {})
