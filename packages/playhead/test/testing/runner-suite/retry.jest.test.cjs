const playhead = require('playhead')
const { test, expect } = require('playhead/jest')

const lookUp = playhead.recordAction('look_up', async (id) => ({ id }))
jest.retryTimes(2)

describe('in a suite', () => {
  let tries = 0
  test('works at the second try', async ({ session }) => {
    tries += 1
    await lookUp('c_1')
    expect(session).toHaveCalled('look_up', { times: tries - 1 || 7 })
  })
})
