import * as types from 'node:util/types'
import { trace } from '@opentelemetry/api'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import * as playhead from '../../src/index.ts'
import { startOtlpSink, type OtlpSink, type ReceivedSpan } from '../otlp-sink.ts'
import {
  hostError,
  hostileArguments,
  hostileFunction,
  hostileOptions,
  hostileValue,
} from './hostile-values.ts'

const CALLS = 1000
/** So many calls share one innocent session after them. */
const CALLS_PER_SESSION = 20

let sink: OtlpSink
let sessionCount = 0

const init = () => playhead.init({ endpoint: sink.url, capture: false, silent: true })

beforeAll(async () => {
  sink = await startOtlpSink()
  vi.stubEnv('PLAYHEAD_SPOOL', 'off')
  init()
})
afterAll(async () => {
  await playhead.shutdown()
  await sink.stop()
  vi.unstubAllEnvs()
})

type Arguments = never[]

const functions: Record<string, (...args: Arguments) => unknown> = {
  addTags: playhead.addTags,
  agent: playhead.agent,
  defineConfig: playhead.defineConfig,
  defineMonitors: playhead.defineMonitors,
  endSession: playhead.endSession,
  flush: playhead.flush,
  getSession: playhead.getSession,
  playheadSpanProcessor: playhead.playheadSpanProcessor,
  record: playhead.record,
  recordAction: playhead.recordAction,
  recordTool: playhead.recordTool,
  sessionEnvironment: playhead.sessionEnvironment,
  sessionHeaders: playhead.sessionHeaders,
  setMetadata: playhead.setMetadata,
  shutdown: playhead.shutdown,
  startSession: playhead.startSession,
  stats: playhead.stats,
  withSession: playhead.withSession,
  wrapAnthropic: playhead.wrapAnthropic,
  wrapGoogleGenAI: playhead.wrapGoogleGenAI,
  wrapOpenAI: playhead.wrapOpenAI,
}

const classes: Record<string, new (...args: Arguments) => unknown> = {
  ActionEvent: playhead.ActionEvent,
  ErrorEvent: playhead.ErrorEvent,
  LLMEvent: playhead.LLMEvent,
  SessionView: playhead.SessionView,
  ToolEvent: playhead.ToolEvent,
}

test('every public function and class is called below', () => {
  const called = [...Object.keys(functions), ...Object.keys(classes), 'init']
  expect(called.toSorted()).toEqual(Object.keys(playhead).toSorted())
})

test.each(Object.entries(functions))('%s throws nothing, whatever it is called with', async (name, call) => {
  const wrong = await callOften(hostileArguments, async (make) => {
    const args = make()
    const { result } = await settle(() => call(...(args as Arguments)))
    if (isView(result)) readAll(result)
    // Functions that were wrapped, and decorators, are called as well.
    if (typeof result === 'function' && name !== 'withSession')
      await settle(() => (result as (...args: unknown[]) => unknown)(...args))
    if (name === 'startSession') await playhead.endSession('Success')
    if (name === 'shutdown') init()
  })
  expect(wrong).toEqual(nothingWrong)
})

test.each(Object.entries(classes))('new %s throws nothing, whatever it is given', async (_, EventClass) => {
  const wrong = await callOften(hostileArguments, async (make) => {
    const { result } = await settle(() => new EventClass(...(make() as Arguments)))
    if (isView(result)) readAll(result)
    else await settle(() => playhead.record(result as playhead.ActionEvent))
  })
  expect(wrong).toEqual(nothingWrong)
})

// Not `endpoint` and `dir`: a text would send steps elsewhere, or write files.
const initOptions =
  'apiKey serviceName environment tags resource capture redact maxValueBytes propagate keepSessions silent'.split(
    ' ',
  )

test('init throws nothing, whatever it is called with', async () => {
  const wrong = await callOften(fc.oneof(hostileValue, hostileOptions(initOptions)), async (make) => {
    await settle(() => playhead.init(make() as playhead.InitOptions))
    init()
  })
  expect(wrong).toEqual(nothingWrong)
})

test('recorded functions return and throw what the host returns and throws', async () => {
  const wrong = await callOften(
    fc.tuple(hostileValue, hostileFunction, hostileArguments),
    async ([makeName, makeFn, makeArgs]) => {
      const recorded = playhead.recordAction(makeName() as string, makeFn())
      const [expected, actual] = [makeFn(), recorded].map((call) => outcomeOf(() => call(...makeArgs())))
      expect(actual!.isThrown).toBe(expected!.isThrown)
      await Promise.all([settle(() => actual!.value), settle(() => expected!.value)])
    },
  )
  expect(wrong).toEqual(nothingWrong)
})

const spanMethods =
  'setAttribute setAttributes addEvent addLink addLinks setStatus updateName recordException end'.split(' ')

test('the tracer that instrumentation uses throws nothing', async () => {
  const wrong = await callOften(fc.tuple(hostileValue, hostileArguments), async ([makeValue, makeArgs]) => {
    playhead.withSession({ name: 'traced' }, () => {
      const tracer = trace.getTracer(makeValue() as string, makeValue() as string)
      const span = tracer.startSpan(makeValue() as string, makeValue() as object)
      for (const method of spanMethods)
        (span as unknown as Record<string, (...args: unknown[]) => unknown>)[method]!(...makeArgs())
    })
    await Promise.resolve()
  })
  expect(wrong).toEqual(nothingWrong)
})

const nothingWrong = { missing: [], incomplete: [], faults: 0 }

/** Makes the calls, with innocent sessions in between, which must arrive whole. Returns what went wrong. */
async function callOften<Value>(
  arbitrary: fc.Arbitrary<Value>,
  call: (value: Value) => Promise<void>,
): Promise<{ missing: string[]; incomplete: string[]; faults: number }> {
  const before = sink.spans().length
  const { faults } = playhead.stats()
  const names: string[] = []
  let calls = 0
  const property = fc.asyncProperty(arbitrary, async (value) => {
    await call(value)
    calls += 1
    if (calls % CALLS_PER_SESSION === 0) names.push(recordInnocentSession())
  })
  await fc.assert(property, { numRuns: CALLS, seed: 15, endOnFailure: true })
  await playhead.flush()
  const arrived = sink.spans().slice(before)
  const roots = new Map(arrived.map((span) => [span.name, span.spanId]))
  const stepsOf = (name: string) => arrived.filter((span) => span.parentSpanId === roots.get(name))
  return {
    missing: names.filter((name) => !roots.has(name)),
    incomplete: names.filter((name) => stepsOf(name).map(argumentsOf).join() !== '{"text":"a"},{"text":"b"}'),
    faults: playhead.stats().faults - faults,
  }
}

const argumentsOf = ({ attributes }: ReceivedSpan) => attributes['playhead.action.arguments']

const act = playhead.recordAction('act', (text: string) => text)

function recordInnocentSession(): string {
  const name = `innocent ${(sessionCount += 1)}`
  playhead.withSession({ name }, () => ['a', 'b'].map((text) => act(text)))
  return name
}

/** Runs a call to its end. Only what the host's own function throws may come out. */
async function settle(call: () => unknown): Promise<{ result: unknown }> {
  try {
    const result = call()
    // One with a constructor of its own can't be awaited by anyone.
    if (types.isPromise(result) && !Object.hasOwn(result, 'constructor')) await result
    // In an object, because a promise would call the `then` of a hostile result.
    return { result }
  } catch (error) {
    if (error === hostError || isUncallable(error)) return { result: undefined }
    throw error
  }
}

/** The host gave a function that can't be called. */
function isUncallable(error: unknown): boolean {
  return error instanceof TypeError && /revoked|Class constructor/.test(error.message)
}

function outcomeOf(call: () => unknown): { isThrown: boolean; value: unknown } {
  try {
    return { isThrown: false, value: call() }
  } catch (error) {
    return { isThrown: true, value: error }
  }
}

function isView(value: unknown): value is playhead.SessionView {
  return !types.isProxy(value) && Object.getPrototypeOf(Object(value)) === playhead.SessionView.prototype
}

function readAll(view: playhead.SessionView): void {
  const properties = Object.entries(Object.getOwnPropertyDescriptors(playhead.SessionView.prototype))
  for (const [, { get }] of properties) get?.call(view)
  view.toJSON()
}
