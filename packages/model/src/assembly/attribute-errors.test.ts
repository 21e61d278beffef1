import { expect, test } from 'vitest'
import { failed, outline, resolveById } from '../../test/outline.ts'

function errorsOf(steps: ReturnType<typeof resolveById>) {
  return Object.fromEntries(
    Object.values(steps).map(({ id, status, error }) => [
      id,
      error === undefined
        ? status
        : [status, ...(error.isPropagated ? ['propagated'] : []), ...(error.isHandled ? ['handled'] : [])],
    ]),
  )
}

test('an error on several steps belongs to the deepest one', () => {
  const message = '429 Rate limit reached'
  const steps = resolveById([
    failed({
      id: 'workflow',
      kind: 'workflow',
      message: `Error in agent run: {"error":"Error: ${message}"}`,
    }),
    failed({ id: 'agent', kind: 'agent', parentId: 'workflow', message }),
    outline({ id: 'turn', kind: 'workflow', parentId: 'agent' }),
    failed({ id: 'call', kind: 'llm', parentId: 'turn', message }),
  ])

  expect(errorsOf(steps)).toEqual({
    workflow: ['error', 'propagated'],
    agent: ['error', 'propagated'],
    turn: 'ok',
    call: ['error'],
  })
})

test('an error with another as its cause is that error, passed on', () => {
  const steps = resolveById([
    outline({
      id: 'agent',
      status: 'error',
      error: {
        type: 'AgentError',
        message: 'the run failed',
        cause: { type: 'ValueError', message: 'customer_id cannot be None' },
      },
    }),
    failed({ id: 'tool', parentId: 'agent', message: 'customer_id cannot be None' }),
  ])

  expect(errorsOf(steps)).toEqual({ agent: ['error', 'propagated'], tool: ['error'] })
})

test('a failure without a message is that of the child that failed last', () => {
  const steps = resolveById([
    outline({ id: 'http', status: 'error', to: 50 }),
    failed({ id: 'first', parentId: 'http', from: 1 }),
    failed({ id: 'second', parentId: 'http', from: 20, to: 30 }),
    outline({ id: 'bare', status: 'error' }),
  ])

  expect(errorsOf(steps)).toEqual({
    http: ['error', 'propagated'],
    first: ['error'],
    second: ['error'],
    bare: ['error'],
  })
  expect(steps['bare']?.error).toEqual({ type: 'Error', message: '' })
})

test('the error of a failed tool under an agent that succeeded is handled, on all steps that passed it on', () => {
  const steps = resolveById([
    outline({ id: 'main', kind: 'agent' }),
    failed({ id: 'helper', kind: 'agent', parentId: 'main', message: 'backend is down' }),
    failed({ id: 'tool', kind: 'action', parentId: 'helper', message: 'backend is down' }),
    outline({
      id: 'polite',
      kind: 'action',
      parentId: 'main',
      status: 'soft-error',
      error: { type: 'ToolError', message: 'not found' },
    }),
  ])

  expect(errorsOf(steps)).toEqual({
    main: 'ok',
    helper: ['error', 'propagated', 'handled'],
    tool: ['error', 'handled'],
    polite: ['soft-error', 'handled'],
  })
})

test('an error under a step that is still running is not handled yet', () => {
  const steps = resolveById([
    outline({ id: 'main', kind: 'agent', to: null }),
    failed({ id: 'tool', kind: 'action', parentId: 'main' }),
  ])

  expect(errorsOf(steps)).toEqual({ main: 'running', tool: ['error'] })
})

test('a step that still runs has handled an error below it once it started something else', () => {
  const read = (startMs: number) =>
    errorsOf(
      resolveById([
        outline({ id: 'main', kind: 'agent', to: null }),
        failed({ id: 'tool', kind: 'action', parentId: 'main', from: 10, to: 20 }),
        outline({ id: 'next', kind: 'llm', parentId: 'main', from: startMs, to: 60 }),
      ]),
    )

  expect(read(30)).toEqual({ main: 'running', tool: ['error', 'handled'], next: 'ok' })
  // It ran beside the tool, so it says nothing about what became of the error.
  expect(read(15)).toEqual({ main: 'running', tool: ['error'], next: 'ok' })
})

test('in the recording process, errors of a running session count as handled', () => {
  const open = (id: string, parentId: string | null) => outline({ id, kind: 'agent', parentId, to: null })
  const tool = failed({ id: 'tool', kind: 'action', parentId: 'helper' })
  const read = (...outlines: Parameters<typeof resolveById>[0][number][]) =>
    errorsOf(resolveById(outlines, [], { isReadWhileRecording: true }))

  expect(read(open('main', null), open('helper', 'main'), tool)).toEqual({
    main: 'running',
    helper: 'running',
    tool: ['error', 'handled'],
  })
  // The process ended with the error, so nothing survived it.
  expect(read(failed({ id: 'main', kind: 'agent' }), open('helper', 'main'), tool)).toEqual({
    main: ['error'],
    helper: 'running',
    tool: ['error'],
  })
})

test('an error that was rethrown with another message is handled when a step above succeeded', () => {
  const steps = resolveById([
    outline({ id: 'main', kind: 'agent' }),
    failed({ id: 'checkout', kind: 'action', parentId: 'main', message: 'please try again later' }),
    failed({ id: 'charge', kind: 'action', parentId: 'checkout', message: 'card declined' }),
  ])

  expect(errorsOf(steps)).toEqual({
    main: 'ok',
    checkout: ['error', 'handled'],
    charge: ['error', 'handled'],
  })
})

test('failed attempts before a successful one are handled, even if the agent fails for another reason', () => {
  const steps = resolveById([
    failed({ id: 'agent', kind: 'agent', to: 100, message: 'the tool exploded' }),
    failed({ id: 'attempt-1', kind: 'llm', parentId: 'agent', from: 1, message: '429 Too many requests' }),
    failed({ id: 'attempt-2', kind: 'llm', parentId: 'agent', from: 20, message: '429 Too many requests' }),
    outline({ id: 'attempt-3', kind: 'llm', parentId: 'agent', from: 40 }),
    failed({ id: 'tool', kind: 'action', parentId: 'agent', from: 60, message: 'the tool exploded' }),
  ])

  expect(errorsOf(steps)).toEqual({
    agent: ['error', 'propagated'],
    'attempt-1': ['error', 'handled'],
    'attempt-2': ['error', 'handled'],
    'attempt-3': 'ok',
    tool: ['error'],
  })
})

test('among parallel calls, the one whose error was thrown further is not handled', () => {
  const steps = resolveById([
    failed({ id: 'agent', kind: 'agent', to: 100, message: 'connection reset by peer' }),
    failed({ id: 'a', kind: 'llm', parentId: 'agent', from: 1, message: 'connection reset by peer' }),
    outline({ id: 'b', kind: 'llm', parentId: 'agent', from: 2 }),
  ])

  expect(errorsOf(steps)).toEqual({ agent: ['error', 'propagated'], a: ['error'], b: 'ok' })
})

test('a triggered guardrail is no failure; the agent that it stopped has the error', () => {
  const message = 'InputGuardrailTripwireTriggered: blocked'
  const steps = resolveById([
    failed({ id: 'agent', kind: 'agent', message }),
    failed({
      id: 'guard',
      kind: 'guardrail',
      parentId: 'agent',
      message,
      guardrail: { name: 'guard', isTriggered: true },
    }),
    failed({ id: 'broken', kind: 'guardrail', parentId: 'agent', message: 'the guardrail itself crashed' }),
  ])

  expect(errorsOf(steps)).toEqual({ agent: ['error'], broken: ['error'], guard: 'ok' })
})

test('a root that was created afterwards gets the status of its last child', () => {
  const trace = (id: string) => ({
    ...outline({ id, kind: 'workflow' as const }),
    startedAtMs: 0,
    endedAtMs: 0,
  })
  const steps = resolveById([
    trace('failed-trace'),
    failed({ id: 'run', kind: 'agent', parentId: 'failed-trace', message: 'Max turns (2) exceeded' }),
    trace('recovered-trace'),
    failed({ id: 'first', kind: 'agent', parentId: 'recovered-trace', message: 'it did not work' }),
    outline({ id: 'again', kind: 'agent', parentId: 'recovered-trace', from: 20 }),
  ])

  expect(errorsOf(steps)).toEqual({
    'failed-trace': ['error', 'propagated'],
    run: ['error'],
    'recovered-trace': 'ok',
    first: ['error', 'handled'],
    again: 'ok',
  })
})

test('the status of an HTTP span is the failure that the client above explains', () => {
  const steps = resolveById([
    failed({ id: 'call', kind: 'llm', to: 50, message: 'Invalid value: temperature must be at most 2.' }),
    failed({ id: 'http', parentId: 'call', from: 5, to: 40, message: '400 Bad Request' }),
  ])

  expect([steps.call!.error?.isPropagated, steps.http!.error?.isPropagated]).toEqual([true, undefined])
})

test('an error that was wrapped on both sides is one error', () => {
  const cause = { type: 'Error', message: 'connection refused' }
  const steps = resolveById([
    {
      ...failed({ id: 'run', to: 50, message: 'the run broke' }),
      error: { type: 'E', message: 'run', cause },
    },
    {
      ...failed({ id: 'tool', parentId: 'run', from: 5, to: 40 }),
      error: { type: 'E', message: 'lookup', cause },
    },
  ])

  expect(steps.run!.error?.isPropagated).toBe(true)
})

test('a failure that two instrumentations report side by side is one error; parallel failures are two', () => {
  const message = 'Error code: 400 - refused'
  const run = failed({ id: 'run', kind: 'workflow', message, to: 100 })
  const beside = { kind: 'workflow' as const, parentId: 'run', from: 2, to: 60 }
  const steps = [
    run,
    failed({ id: 'agent', kind: 'agent', parentId: 'run', reporter: 'langchain', message, from: 1, to: 50 }),
    failed({ id: 'call', kind: 'llm', parentId: 'agent', reporter: 'langchain', message, from: 3, to: 40 }),
    failed({ id: 'http', parentId: 'call', reporter: 'httpx', message: '', from: 4, to: 39 }),
    failed({ ...beside, id: 'node', reporter: 'langgraph', message: `BadRequestError: ${message}` }),
  ]

  expect(errorsOf(resolveById(steps))).toMatchObject({ http: ['error'], node: ['error', 'propagated'] })
  expect(
    errorsOf(
      resolveById([
        run,
        failed({ ...beside, id: 'one', reporter: 'langgraph', message }),
        failed({ ...beside, id: 'two', reporter: 'langgraph', message }),
      ]),
    ),
  ).toMatchObject({ one: ['error'], two: ['error'] })
})

test('a run whose last agent failed has failed, whatever the status of the root', () => {
  const steps = [
    outline({ id: 'root', kind: 'workflow', to: 100 }),
    outline({ id: 'task', kind: 'workflow', parentId: 'root', to: 90 }),
    failed({ id: 'agent', kind: 'agent', parentId: 'task', from: 5, to: 80, message: 'no such customer' }),
  ]

  expect(resolveById(steps).root).toMatchObject({
    status: 'error',
    error: { message: 'no such customer', isPropagated: true },
  })
  expect(resolveById(steps).agent!.error).not.toHaveProperty('isHandled')
  expect(resolveById([{ ...steps[0]!, outputPreview: 'Sorry.' }, ...steps.slice(1)]).root!.status).toBe('ok')
})

test("an agent's error that only tells its status is that of the call below", () => {
  const steps = resolveById([
    failed({ id: 'agent', kind: 'agent', message: 'run status: error' }),
    failed({ id: 'call', kind: 'llm', parentId: 'agent', message: 'The model refuses.' }),
  ])

  expect(errorsOf(steps)).toEqual({ agent: ['error', 'propagated'], call: ['error'] })
})
