import { context, propagation, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import * as playhead from '../src/index.ts'
import { pinClock } from '../src/tape/pin-clock.ts'

const exporter = new InMemorySpanExporter()
const exported = () => exporter.getFinishedSpans().map(({ name }) => name)

beforeAll(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager())
  const provider = new TracerProvider({
    spanProcessors: [playhead.playheadSpanProcessor(), new SimpleSpanProcessor({ exporter })],
  })
  trace.setGlobalTracerProvider(provider)
  playhead.init({ endpoint: false, capture: false })
})
beforeEach(() => exporter.reset())

const act = playhead.recordAction('act', (text: string) => text)

/** A span of another instrumentation. */
async function traced<Result>(name: string, fn: () => Result, attributes = {}): Promise<Result> {
  return trace.getTracer('host').startActiveSpan(name, { attributes }, async (span) => {
    await nextTurn()
    try {
      return fn()
    } finally {
      span.end()
    }
  })
}

test('the host keeps its provider: it gets our steps as spans, and its spans are steps of the session', async () => {
  const session = await playhead.withSession({ name: 'joined' }, async (view) => {
    await traced('SELECT customers', () => act('inside'))
    return view
  })
  expect(session.steps.map(({ name, kind }) => [name, kind])).toEqual([
    ['joined', 'workflow'],
    ['SELECT customers', 'other'],
    ['act', 'action'],
  ])
  const [root, query, action] = session.steps
  expect([query!.parentId, action!.parentId]).toEqual([root!.id, query!.id])
  expect(exported()).toEqual(['act', 'SELECT customers', 'joined'])
})

test("while a re-run gives the host another date, the host's spans keep their place in the session", async () => {
  const tracer = trace.getTracer('host')
  const dayMs = 24 * 3600 * 1000
  const unpin = pinClock(() => -dayMs)
  try {
    const session = await playhead.withSession({ name: 'again' }, async (view) => {
      await traced('SELECT customers', () => act('inside'))
      // A `Date` has whole milliseconds.
      const actedMs = Date.now()
      while (Date.now() === actedMs) await nextTurn()
      tracer.startSpan('with its own time', { startTime: new Date() }).end(new Date())
      act('last')
      return view
    })
    expect(session.steps.map(({ name }) => name)).toEqual([
      'again',
      'SELECT customers',
      'act',
      'with its own time',
      'act',
    ])
    expect(session.steps.filter(({ durationMs }) => !(durationMs! >= 0 && durationMs! < dayMs))).toEqual([])
  } finally {
    unpin()
  }
})

test('sessions are separate traces, linked to the surrounding span', async () => {
  const session = await traced('GET /chat', () => {
    playhead.startSession({ name: 'imperative' })
    act('one')
    void playhead.endSession('Success')
    return playhead.getSession()
  })
  const [around] = exporter.getFinishedSpans().filter(({ name }) => name === 'GET /chat')
  const [root] = exporter.getFinishedSpans().filter(({ name }) => name === 'imperative')
  expect(session.id).not.toBe(around!.spanContext().traceId)
  expect(root!.links[0]!.context.spanId).toBe(around!.spanContext().spanId)
  expect(session.steps.map(({ name }) => name)).toEqual(['imperative', 'act'])
})

test('traces without an agent are ignored', async () => {
  const { recorded } = playhead.stats()
  await traced('GET /health', () => traced('SELECT 1', () => 1))
  expect([exported(), playhead.stats().recorded - recorded]).toEqual([['GET /health', 'SELECT 1'], 0])
})

test('an agent of another instrumentation is a session that includes our steps', async () => {
  const id = await traced(
    'ai.generateText',
    () => {
      act('a tool')
      return trace.getActiveSpan()!.spanContext().traceId
    },
    { 'ai.operationId': 'ai.generateText', 'operation.name': 'ai.generateText' },
  )
  const session = playhead.getSession(id)!
  expect(session.steps.map(({ name, kind }) => [name, kind])).toEqual([
    ['ai.generateText', 'agent'],
    ['act', 'action'],
  ])
})

test("the host's context manager keeps sessions separate", async () => {
  const run = async (text: string) => {
    const session = playhead.startSession({ name: text })
    await nextTurn()
    await traced('query', () => act(text))
    await playhead.endSession('Success')
    return session
  }
  const sessions = await Promise.all(['a', 'b', 'c'].map(run))
  expect(sessions.map(({ actionEvents }) => actionEvents.map(({ returns }) => returns))).toEqual([
    ['a'],
    ['b'],
    ['c'],
  ])
})

test("the session is carried in the host's baggage", () => {
  playhead.withSession((session) => {
    expect(propagation.getActiveBaggage()?.getEntry('playhead.session')?.value).toBe(session.id)
  })
})
