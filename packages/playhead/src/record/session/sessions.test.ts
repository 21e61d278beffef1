import { EventEmitter } from 'node:events'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import * as playhead from '../../index.ts'

beforeAll(() => playhead.init({ endpoint: false, capture: false, tags: ['suite'] }))

const note = playhead.recordAction('note', (text: string) => text)

/** The texts of a session's notes, in order. */
const notesOf = (session: playhead.SessionView) => session.actionEvents.map(({ returns }) => returns)

test('without a session, getSession returns an empty one', () => {
  const { id, steps, cost, endState } = playhead.getSession()
  expect({ id, steps, cost, endState }).toEqual({ id: '', steps: [], cost: 0, endState: 'running' })
})

test('a session is scored while it runs and after its end, and a score is no step of it', async () => {
  const session = playhead.startSession()
  note('done')
  session.score('helpful', true)
  await playhead.endSession('Success')
  const before = { steps: session.steps.length, durationMs: session.durationMs }
  session.score('helpful', 0.25, { comment: 'slow', source: 'user', id: 'u1' })
  session.score('helpful', 0.75, { id: 'u1' })
  session.score('tone', 'rude', { step: session.steps.at(-1)! })
  session.score('helpful', Number.NaN)

  expect({ steps: session.steps.length, durationMs: session.durationMs }).toEqual(before)
  const [step] = session.steps.slice(-1)
  expect(session.scores.map(({ name, value, source, stepId }) => [name, value, source, stepId])).toEqual([
    ['tone', 'rude', 'code', step!.id],
    ['helpful', 0.25, 'user', undefined],
    ['helpful', true, 'code', undefined],
  ])
  const whole = session.toJSON()
  expect(whole.session.scores?.map(({ name, value }) => [name, value])).toEqual([
    ['helpful', 0.25],
    ['tone', 'rude'],
  ])
  expect(playhead.getSession(session.id)?.scores).toHaveLength(3)
})

describe('startSession and endSession', () => {
  test('a session contains everything in between, across awaits, timers and callbacks', async () => {
    const session = playhead.startSession({ name: 'support', tags: ['v2.1'], metadata: { plan: 'pro' } })
    note('at once')
    await sleep(1)
    note('after an await')
    await new Promise<void>((resolve) => {
      setTimeout(() => {
        note('in a timer')
        resolve()
      }, 1)
    })
    const emitter = new EventEmitter()
    emitter.once('ping', () => note('in a listener'))
    emitter.emit('ping')
    await playhead.endSession('success')

    expect(notesOf(session)).toEqual(['at once', 'after an await', 'in a timer', 'in a listener'])
    expect(session).toMatchObject({
      name: 'support',
      tags: ['suite', 'v2.1'],
      metadata: { plan: 'pro' },
      endState: 'success',
      endStateReason: undefined,
    })
    expect(session.durationMs).toBeGreaterThan(0)
  })

  test.each([
    ['Success', 'success'],
    ['FAIL', 'fail'],
    ['indeterminate', 'indeterminate'],
    ['whatever', 'indeterminate'],
  ])('ends as %s', async (word, endState) => {
    const session = playhead.startSession()
    expect(session.endState).toBe('running')
    await playhead.endSession(word, { reason: 'because' })
    expect(session).toMatchObject({ endState, endStateReason: 'because' })
  })

  test('a failed session owns an error that no step threw', async () => {
    const session = playhead.startSession()
    note('all was well')
    await playhead.endSession('Fail', { reason: new RangeError('too many turns') })
    expect(session.endStateReason).toBe('RangeError: too many turns')
    expect(session.errors.map(({ type, message }) => [type, message])).toEqual([
      ['RangeError', 'too many turns'],
    ])
  })

  test('ending twice, or without an open session, changes nothing', async () => {
    const session = playhead.startSession()
    await playhead.endSession('Success')
    await playhead.endSession('Fail')
    expect(session.endState).toBe('success')
  })

  test('a step after the end is a session of its own', async () => {
    const session = playhead.startSession()
    await playhead.endSession('Success')
    const own = playhead.recordAction('late', () => playhead.getSession().id)()
    expect(own).not.toBe(session.id)
    expect(session.steps).toHaveLength(1)
  })

  test('a step that outlives its session stays in it', async () => {
    const session = playhead.startSession()
    const { promise: sessionEnd, resolve: onSessionEnd } = Promise.withResolvers<void>()
    const outliving = playhead.recordAction('outliving', async () => {
      await sessionEnd
      note('inside')
    })()
    await playhead.endSession('Success')
    onSessionEnd()
    await outliving
    expect(session.steps.map(({ name }) => name)).toEqual(['session', 'outliving', 'note'])
    expect(session.endState).toBe('success')
  })
})

describe('a session inside another one is a part of it', () => {
  async function runAgent(text: string) {
    playhead.startSession({ name: 'agent', tags: ['inner'] })
    note(text)
    await nextTurn()
    await playhead.endSession(text === 'bad' ? 'Fail' : 'Success', { reason: 'the agent said so' })
  }

  test('the outer session contains everything, and only its own end ends it', async () => {
    const outer = playhead.startSession({ name: 'test', tags: ['outer'] })
    await runAgent('first')
    expect(playhead.getSession()).toBe(outer)
    await runAgent('second')
    expect(outer.endState).toBe('running')
    await playhead.endSession('Success')

    expect(notesOf(outer)).toEqual(['first', 'second'])
    expect(outer).toMatchObject({ name: 'test', tags: ['suite', 'outer', 'inner'], endState: 'success' })
    expect(outer.steps.filter(({ kind }) => kind === 'workflow').map(({ name }) => name)).toEqual([
      'test',
      'agent',
      'agent',
    ])
  })

  test('a failed part is an error of the session and does not end it', async () => {
    const outer = playhead.startSession()
    await runAgent('bad')
    expect(outer.endState).toBe('running')
    await playhead.endSession('Success')
    expect(outer.endState).toBe('success')
    expect(outer.errors).toMatchObject([{ message: 'the agent said so', isHandled: true }])
  })

  test('the same with withSession, and from an awaited helper', async () => {
    const outer = await playhead.withSession({ name: 'outer' }, async (session) => {
      await nextTurn()
      await runAgent('one')
      playhead.withSession({ name: 'sync part' }, () => note('two'))
      return session
    })
    expect(notesOf(outer)).toEqual(['one', 'two'])
  })

  test('started by a hook, as test runners call it, and continued by the test', async () => {
    const hook = () => void playhead.startSession({ name: 'hook' })
    const runner = eval('async (hook, body) => { await hook(); await null; return body() }') as (
      hook: () => void,
      body: () => Promise<void>,
    ) => Promise<void>
    // A test runner is in node_modules; only the two callbacks are code of the host.
    await runner(hook, async () => {
      await runAgent('in the test')
      expect(notesOf(playhead.getSession())).toEqual(['in the test'])
      await playhead.endSession('Success')
    })
  })
})

describe('concurrent sessions are separate', () => {
  async function agent(text: string, pause: Promise<void> = sleep(1)) {
    const session = playhead.startSession({ name: text })
    note(`${text} 1`)
    await pause
    note(`${text} 2`)
    await nextTurn()
    note(`${text} 3`)
    await playhead.endSession('Success')
    return session
  }

  async function otherAgent(text: string) {
    const session = playhead.startSession({ name: text })
    await sleep(2)
    note(`${text} 1`)
    await playhead.endSession('Success')
    return session
  }

  const expected = (text: string) => [`${text} 1`, `${text} 2`, `${text} 3`]

  test('one function, many times at once', async () => {
    const texts = Array.from({ length: 50 }, (_, index) => `agent ${index}`)
    const sessions = await Promise.all(texts.map((text) => agent(text)))
    expect(sessions.map(notesOf)).toEqual(texts.map(expected))
    expect(new Set(sessions.map(({ id }) => id)).size).toBe(50)
  })

  test('different functions at once', async () => {
    const [first, second, third] = await Promise.all([agent('a'), otherAgent('b'), agent('c')])
    expect([first, second, third].map(notesOf)).toEqual([expected('a'), ['b 1'], expected('c')])
  })

  test('one that starts while another is running', async () => {
    const { promise: pause, resolve: resume } = Promise.withResolvers<void>()
    const first = agent('early', pause)
    await nextTurn()
    const others = await Promise.all([agent('late'), otherAgent('other')])
    resume()
    expect([await first, ...others].map(notesOf)).toEqual([expected('early'), expected('late'), ['other 1']])
  })

  test('inside one session, they are separate parts', async () => {
    const outer = await playhead.withSession(async (session) => {
      await Promise.all(['x', 'y', 'z'].map((text) => agent(text)))
      return session
    })
    const parts = outer.steps.filter(({ kind, parentId }) => kind === 'workflow' && parentId !== null)
    const root = outer.steps[0]!
    expect(parts.map(({ name, parentId }) => [name, parentId === root.id])).toEqual([
      ['x', true],
      ['y', true],
      ['z', true],
    ])
    for (const part of parts)
      expect(outer.steps.filter(({ parentId }) => parentId === part.id).map(({ output }) => output)).toEqual(
        expected(part.name),
      )
  })

  test('an agent that calls itself is nested', async () => {
    async function recursive(depth: number): Promise<playhead.SessionView> {
      const session = playhead.startSession({ name: `depth ${depth}` })
      if (depth > 0) await recursive(depth - 1)
      await playhead.endSession('Success')
      return session
    }
    const session = await recursive(2)
    expect(session.steps.map(({ name }) => name)).toEqual(['depth 2', 'depth 1', 'depth 0'])
  })

  test('a session that was never ended does not contain the next one', async () => {
    const sessions: playhead.SessionView[] = []
    for (const text of ['one', 'two']) {
      sessions.push(playhead.startSession())
      await nextTurn()
      note(text)
    }
    expect(sessions.map(notesOf)).toEqual([['one'], ['two']])
    await playhead.endSession('Success')
  })
})

describe('withSession', () => {
  test('returns what the function returns, sync or async', async () => {
    const value = { answer: 42 }
    expect(playhead.withSession(() => value)).toBe(value)
    const promise = playhead.withSession({ name: 'async' }, async () => value)
    expect(promise).toBeInstanceOf(Promise)
    expect(await promise).toBe(value)
  })

  test('a thrown error is the reason, and is rethrown as the same object', async () => {
    const error = new TypeError('no customer')
    const sessions: playhead.SessionView[] = []
    await expect(
      playhead.withSession(async (session) => {
        sessions.push(session)
        await nextTurn()
        throw error
      }),
    ).rejects.toBe(error)
    expect(() =>
      playhead.withSession((session) => {
        sessions.push(session)
        throw error
      }),
    ).toThrow(error)
    expect(sessions.map(({ endState, endStateReason }) => [endState, endStateReason])).toEqual([
      ['fail', 'TypeError: no customer'],
      ['fail', 'TypeError: no customer'],
    ])
  })

  test('a generator belongs to the session until it ends', async () => {
    let session: playhead.SessionView | undefined
    const stream = playhead.withSession(async function* (view) {
      session = view
      note('first')
      yield 1
      await nextTurn()
      note('second')
      yield 2
    })
    const values: number[] = []
    for await (const value of stream) values.push(value)
    expect([values, notesOf(session!), session!.endState]).toEqual([[1, 2], ['first', 'second'], 'success'])
  })
})

describe('getSession', () => {
  test('the last session of this flow can still be read', async () => {
    const run = async () => {
      playhead.startSession({ name: 'over' })
      note('done')
      await playhead.endSession('Success')
    }
    await run()
    expect(playhead.getSession()).toMatchObject({ name: 'over', endState: 'success' })
  })

  test('after withSession, it is the session that ended', async () => {
    const inside = await playhead.withSession({ name: 'first' }, async (session) => {
      await nextTurn()
      note('a')
      return session.id
    })
    expect(playhead.getSession()).toMatchObject({ id: inside, name: 'first', endState: 'success' })
    await expect(
      playhead.withSession({ name: 'second' }, () => Promise.reject(new Error('no'))),
    ).rejects.toThrow('no')
    expect(playhead.getSession()).toMatchObject({ name: 'second', endState: 'fail' })
    expect(() =>
      playhead.withSession({ name: 'third' }, () => {
        throw new Error('no')
      }),
    ).toThrow('no')
    expect(playhead.getSession().name).toBe('third')

    // A session that is still running elsewhere is not the one that ended.
    const ending = playhead.withSession({ name: 'fourth' }, () => nextTurn())
    expect(playhead.getSession().name).not.toBe('fourth')
    await ending
    expect(playhead.getSession().name).toBe('fourth')

    const flow = playhead.startSession({ name: 'fifth' })
    expect(playhead.getSession().id).toBe(flow.id)
    await playhead.endSession('Success')
    expect(playhead.getSession().id).toBe(flow.id)
    playhead.withSession({ name: 'sixth' }, () => note('b'))
    expect(playhead.getSession().name).toBe('sixth')
  })

  test('sessions of flows that run at the same time are not mixed up', async () => {
    const flow = async (name: string) => {
      await nextTurn()
      await playhead.withSession({ name }, () => nextTurn())
      await nextTurn()
      return playhead.getSession().name
    }
    expect(await Promise.all(['a', 'b', 'c'].map(flow))).toEqual(['a', 'b', 'c'])
  })

  test('finds a session by its id and by an id prefix', () => {
    const session = playhead.withSession((view) => view)
    expect(playhead.getSession(session.id)).toBe(session)
    expect(playhead.getSession(`s_${session.id.slice(0, 8)}`)).toBe(session)
    expect(playhead.getSession('ffffffff')).toBeUndefined()
  })
})

test('tags and metadata can be added while it runs', () => {
  const session = playhead.withSession({ tags: ['a'], metadata: { plan: 'pro' } }, (view) => {
    playhead.addTags('b', ['c', 'a'])
    playhead.setMetadata({ region: 'eu' })
    note('x')
    return view
  })
  expect(session).toMatchObject({ tags: ['suite', 'a', 'b', 'c'], metadata: { plan: 'pro', region: 'eu' } })
})
