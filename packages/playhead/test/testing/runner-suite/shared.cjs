/* The same tests in every runner: what passes, what fails, and whose session is whose. */
const { readdirSync } = require('node:fs')
const { join } = require('node:path')

exports.defineTests = function defineTests({ playhead, kit, runner }) {
  const { test, expect, before, anyOrder, openRecording, fetchSession } = kit
  const lookUp = playhead.recordAction({ name: 'look_up', effect: 'read' }, async (id) => {
    await new Promise((resolve) => setTimeout(resolve, 15))
    if (id === null) throw new TypeError('id cannot be null')
    return { id }
  })
  const refund = playhead.recordAction({ name: 'refund', effect: 'write' }, async (order) => order.amount)
  const run = async (id = 'c_1') => {
    playhead.startSession({ tags: ['agent'] })
    await lookUp(id)
    await refund({ invoice: 'i_1', amount: 5 })
    playhead.record(new playhead.LLMEvent({ model: 'gpt-4o', usage: { input: 100, output: 10 } }))
    await playhead.endSession('Success')
  }
  const matchers = [
    ['toHaveCalled', ['look_up', { args: ['c_1'], times: 1 }], ['look_up', { args: ['c_2'] }]],
    ['toHaveCalledInOrder', [['look_up', 'refund']], [['refund', 'look_up']]],
    ['toSatisfyOrder', [before('look_up', 'refund')], [before('refund', 'look_up')]],
    ['toMatchTrajectory', [[anyOrder(['refund', 'look_up'])]], [['refund'], { mode: 'sameTools' }]],
    ['toHaveEffects', [['refund']], [[]]],
    ['toCostLessThan', [0.01], [{ tokens: 10 }]],
    ['toFinishWithin', ['9s'], [0]],
    ['toHaveNoErrors', [], undefined],
    ['toHaveNoLoops', [], [{ max: 0 }]],
  ]
  const check = (session) => {
    for (const [name, passing, failing] of matchers) {
      expect(session)[name](...passing)
      if (failing !== undefined) expect(session).not[name](...failing)
      mustThrow(() => expect(session).not[name](...passing))
      if (failing !== undefined) mustThrow(() => expect(session)[name](...failing))
    }
  }

  const ask = async (content) => {
    const body = JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content }] })
    const headers = { 'content-type': 'application/json' }
    // Nothing listens there.
    const response = await fetch('http://127.0.0.1:2/v1/chat/completions', { method: 'POST', headers, body })
    return (await response.json()).choices[0].message.content
  }
  test('is answered from its cassette', { cassette: 'answers.jsonl' }, async ({ session }) => {
    const { id } = await lookUp(await ask('Who am I?'))
    if (id !== 'from the cassette') throw new Error(`look_up returned ${id}`)
    expect(session).toHaveCalled('look_up', { args: ['c_7'] })
  })
  test('asks for more than its cassette has', { cassette: 'answers.jsonl' }, async () => {
    await ask('How are you?').catch(() => undefined)
  })

  test('every matcher, live', async ({ session }) => {
    await run()
    check(session)
    check(playhead.getSession())
  })
  test('errors are found, live', async ({ session }) => {
    await run(null).catch(() => undefined)
    expect(session).not.toHaveNoErrors()
    mustThrow(() => expect(session).toHaveNoErrors())
    // The test caught it.
    expect(session).toHaveNoErrors({ allowHandled: true })
    mustThrow(() => expect(session).not.toHaveNoErrors({ allowHandled: true }))
  })
  test('every matcher, from a file and from the server', async () => {
    const id = await playhead.withSession(async (session) => {
      await run()
      return session.id
    })
    await playhead.flush()
    const folder = process.env.PLAYHEAD_RUN_DIR
    const file = readdirSync(folder).find((name) => name.includes(id.slice(0, 8)))
    check(await openRecording(join(folder, file)))
    check(await fetchSession(id))
  })
  test('fails with a diff', async ({ session }) => {
    await run()
    expect(session).toHaveCalledInOrder(['look_up', 'verify', 'refund'])
  })
  test('fails with an error of the agent', async () => {
    await run(null)
  })
  test.agent(
    'varies',
    { inputs: ['c_1', 'c_2', 'bad'], repeat: 2, concurrency: 3 },
    async ({ input, session }) => {
      await run(input)
      expect(session).toHaveCalled('look_up', { args: [/^c_/] })
    },
  )
  test.agent(
    'holds mostly',
    { inputs: ['c_1', 'c_2'], repeat: 4, passRate: { min: 0.5 } },
    async ({ input, session, attempt }) => {
      await run(input)
      if (input === 'c_1' && attempt === 1) expect(session).toHaveEffects([])
    },
  )
  test.agent.skip('is skipped as well', {}, () => {
    throw new Error('it ran')
  })
  return { lookUp, run, runner }
}

function mustThrow(action) {
  try {
    action()
  } catch (error) {
    if (!/[Ee]xpected/.test(error.message)) throw new Error(`an unclear message: ${error.message}`)
    return
  }
  throw new Error('it should have failed')
}
