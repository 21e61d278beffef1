import { beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import * as playhead from '../../index.ts'

beforeAll(() => playhead.init({ endpoint: false, capture: false }))

function sessionOf(run: () => void): playhead.SessionView {
  return playhead.withSession((view) => {
    run()
    return view
  })
}

test('an action event', () => {
  const session = sessionOf(() => {
    playhead.record(
      new playhead.ActionEvent({
        actionType: 'session_complete',
        params: { intent: 'billing' },
        returns: { responseLength: 12 },
        effect: 'read',
      }),
    )
  })
  expect(session.actionEvents).toMatchObject([
    {
      actionType: 'session_complete',
      params: { intent: 'billing' },
      returns: { responseLength: 12 },
      effect: 'read',
      status: 'ok',
    },
  ])
})

test('a tool event with its id, times and error', () => {
  const nowMs = Date.now()
  const session = sessionOf(() => {
    playhead.record(
      new playhead.ToolEvent({
        name: 'search',
        callId: 'call_1',
        params: { query: 'x' },
        error: new Error('timeout'),
        startedAt: new Date(nowMs - 1500),
        endedAt: nowMs - 500,
      }),
    )
  })
  expect(session.steps.find(({ name }) => name === 'search')).toMatchObject({
    kind: 'action',
    status: 'error',
    error: { type: 'Error', message: 'timeout' },
    tool: { name: 'search', callId: 'call_1', arguments: { query: 'x' } },
    durationMs: 1000,
  })
})

test('an LLM event counts tokens and cost', () => {
  const session = sessionOf(() => {
    playhead.record(
      new playhead.LLMEvent({
        model: 'gpt-4o',
        prompt: 'I was charged twice',
        completion: "I'll look into it",
        usage: { input: 1000, output: 100, cacheRead: 400 },
      }),
    )
    playhead.record(new playhead.LLMEvent({ model: 'my-own-model', usage: { input: 5, output: 5 } }))
    playhead.record(
      new playhead.LLMEvent({ model: 'my-other-model', usage: { input: 5, output: 5 }, cost: 0.5 }),
    )
  })
  expect(session.llmCalls[0]).toMatchObject({
    model: 'gpt-4o',
    provider: 'openai',
    inputPreview: 'I was charged twice',
    outputPreview: "I'll look into it",
    usage: { input: 1000, output: 100, cacheRead: 400, total: 1100 },
  })
  expect(session.cost).toBeCloseTo(0.5 + (600 * 2.5 + 400 * 1.25 + 100 * 10) / 1e6)
  expect(session.unpricedModels).toEqual(['my-own-model'])
  expect(session.tokens).toMatchObject({ input: 1010, output: 110 })
})

test('an error that no step threw', () => {
  const session = sessionOf(() => {
    playhead.record(new playhead.ErrorEvent({ errorType: 'PolicyViolation', message: 'promises a refund' }))
    playhead.record(new playhead.ErrorEvent({ error: new RangeError('too far') }))
  })
  expect(session.errors.map(({ type, message, step }) => [type, message, step.kind])).toEqual([
    ['PolicyViolation', 'promises a refund', 'event'],
    ['RangeError', 'too far', 'event'],
  ])
})

test('an error that a step threw is not counted again', () => {
  const session = sessionOf(() => {
    const error = new Error('no customer')
    const find = playhead.recordAction('find', () => {
      throw error
    })
    try {
      find()
    } catch (caught) {
      playhead.record(new playhead.ErrorEvent({ error: caught }))
    }
  })
  expect(session.errors.map(({ message, step }) => [message, step.name])).toEqual([['no customer', 'find']])
  expect(session.steps.at(-1)).toMatchObject({ kind: 'event', status: 'ok', output: 'Error: no customer' })
})

test('an event lasts from its creation until it is recorded', () => {
  vi.useFakeTimers({ now: Date.UTC(2026, 0, 1), toFake: ['Date'] })
  vi.spyOn(performance, 'now').mockReturnValue(0)
  onTestFinished(() => {
    vi.useRealTimers()
    vi.restoreAllMocks()
  })
  const session = sessionOf(() => {
    const event = new playhead.ActionEvent({ actionType: 'slow' })
    vi.advanceTimersByTime(200)
    playhead.record(event)
  })
  expect(session.actionEvents[0]!.durationMs).toBeCloseTo(200, 1)
})

test('anything but an event is ignored', () => {
  const session = sessionOf(() => playhead.record('nonsense' as unknown as playhead.ActionEvent))
  expect(session.steps).toHaveLength(1)
})
