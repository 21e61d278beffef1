import { expect, test } from 'vitest'
import { failed, log, outline, resolveById } from '../../test/outline.ts'
import type { Pricer } from '../prices/price.ts'

test('a record fills only what its span lacks', () => {
  const steps = resolveById(
    [
      outline({ id: 'bare', kind: 'llm' }),
      outline({
        id: 'told',
        kind: 'llm',
        inputPreview: 'from the span',
        outputPreview: 'also',
        model: 'gpt-4o',
        usage: { input: 5 },
        reportedCost: 1,
        cost: 1,
      }),
    ],
    ['bare', 'told'].map((stepId) =>
      log({
        stepId,
        adds: {
          inputPreview: 'from the log',
          outputPreview: 'an answer',
          model: 'gpt-4o-mini',
          usage: { input: 7, cacheWrite5m: 2 },
          reportedCost: 0.25,
          session: { threadId: 't1' },
        },
      }),
    ),
  )

  expect(steps['bare']).toMatchObject({
    inputPreview: 'from the log',
    outputPreview: 'an answer',
    model: 'gpt-4o-mini',
    usage: { input: 7, cacheWrite5m: 2 },
    cost: 0.25,
    costSource: 'reported',
    session: { threadId: 't1' },
  })
  expect(steps['told']).toMatchObject({
    inputPreview: 'from the span',
    outputPreview: 'also',
    model: 'gpt-4o',
    usage: { input: 5, cacheWrite5m: 2 },
    cost: 1,
  })
})

test('the previews are the last input message and the first reply', () => {
  const steps = resolveById(
    [outline({ id: 'call', kind: 'llm' })],
    [
      log({ at: 3, stepId: 'call', adds: { outputPreview: 'a second choice' } }),
      log({ at: 1, stepId: 'call', adds: { inputPreview: 'and in Rome?' } }),
      log({ at: 2, stepId: 'call', adds: { outputPreview: 'Sunny.' } }),
      log({ at: 0, stepId: 'call', adds: { inputPreview: 'Weather in Paris?' } }),
    ],
  )

  expect(steps['call']).toMatchObject({ inputPreview: 'and in Rome?', outputPreview: 'Sunny.' })
})

test('the n-th record of each event goes to the n-th step', () => {
  const request = (at: number, reportedCost: number) =>
    log({ at, stepId: 'turn', name: 'api_request', adds: { joinTo: { kind: 'llm' }, reportedCost } })
  const response = (at: number, outputPreview: string) =>
    log({ at, stepId: 'turn', name: 'assistant_response', adds: { joinTo: { kind: 'llm' }, outputPreview } })
  const steps = resolveById(
    [
      outline({ id: 'turn', kind: 'agent', to: 100 }),
      outline({ id: 'second', kind: 'llm', parentId: 'turn', from: 50, to: 90 }),
      outline({ id: 'first', kind: 'llm', parentId: 'turn', from: 1, to: 40 }),
      outline({ id: 'elsewhere', kind: 'llm', from: 0, to: 1 }),
    ],
    [response(91, 'two'), request(90, 0.2), request(40, 0.1), response(41, 'one')],
  )

  expect(Object.values(steps).map((step) => [step.id, step.cost, step.outputPreview])).toEqual([
    ['elsewhere', undefined, undefined],
    ['turn', undefined, undefined],
    ['first', 0.1, 'one'],
    ['second', 0.2, 'two'],
  ])
})

test('with fewer records than steps, a record goes to the step that ended closest to it', () => {
  const steps = resolveById(
    [
      outline({ id: 'turn', kind: 'agent', to: 100 }),
      outline({ id: 'tools-only', kind: 'llm', parentId: 'turn', from: 1, to: 20 }),
      outline({ id: 'with-text', kind: 'llm', parentId: 'turn', from: 30, to: 60 }),
      outline({ id: 'tools-again', kind: 'llm', parentId: 'turn', from: 70, to: 90 }),
    ],
    [log({ at: 59, stepId: 'turn', adds: { joinTo: { kind: 'llm' }, outputPreview: 'hello' } })],
  )

  expect(Object.values(steps).filter((step) => step.outputPreview === 'hello')).toEqual([steps['with-text']])
})

test('records go to steps of the same model and outcome', () => {
  const request = (model: string, reportedCost: number) =>
    log({
      at: 99,
      stepId: 'turn',
      name: 'api_request',
      adds: { joinTo: { kind: 'llm' }, model, reportedCost },
    })
  const steps = resolveById(
    [
      outline({ id: 'turn', kind: 'agent', to: 100 }),
      outline({ id: 'haiku', kind: 'llm', parentId: 'turn', from: 1, requestedModel: 'haiku' }),
      outline({ id: 'broken', kind: 'llm', parentId: 'turn', from: 2, status: 'error', model: 'sonnet' }),
      outline({ id: 'sonnet', kind: 'llm', parentId: 'turn', from: 20, model: 'sonnet' }),
    ],
    [
      request('sonnet', 0.3),
      request('haiku', 0.1),
      log({
        at: 12,
        stepId: 'turn',
        name: 'api_error',
        adds: {
          joinTo: { kind: 'llm' },
          model: 'sonnet',
          error: { type: 'HTTP 529', message: 'overloaded' },
        },
      }),
    ],
  )

  expect([steps['haiku']?.cost, steps['broken']?.cost, steps['sonnet']?.cost]).toEqual([0.1, undefined, 0.3])
  expect(steps['broken']?.error).toMatchObject({ type: 'HTTP 529', message: 'overloaded' })
})

test('a record that names a tool call goes to that call', () => {
  const steps = resolveById(
    [
      outline({ id: 'turn', kind: 'agent' }),
      outline({ id: 'ls', kind: 'action', toolCallId: 't1', parentId: 'turn' }),
      outline({ id: 'cat', kind: 'action', toolCallId: 't2', parentId: 'turn' }),
      outline({ id: 'cat-execution', kind: 'event', toolCallId: 't2', parentId: 'cat' }),
    ],
    [
      log({
        stepId: 'turn',
        adds: {
          joinTo: { kind: 'action', toolCallId: 't2' },
          inputPreview: 'path=/etc',
          error: { type: 'ToolError', message: 'no such file' },
        },
      }),
      log({
        stepId: 'turn',
        adds: { joinTo: { kind: 'action', toolCallId: 'unknown' }, inputPreview: 'lost' },
      }),
    ],
  )

  expect(steps['cat']).toMatchObject({
    inputPreview: 'path=/etc',
    status: 'error',
    error: { type: 'ToolError', message: 'no such file', isHandled: true },
  })
  expect(Object.values(steps).map((step) => step.inputPreview)).toEqual([
    undefined,
    'path=/etc',
    undefined,
    undefined,
  ])
})

test('a failed attempt does not make a successful call fail', () => {
  const error = { type: 'HTTP 529', message: 'overloaded' }
  const steps = resolveById(
    [
      outline({ id: 'answered', kind: 'llm', finishReasons: ['stop'] }),
      outline({ id: 'not-answered', kind: 'llm' }),
      failed({ id: 'wordless', kind: 'llm', message: '' }),
    ],
    ['answered', 'not-answered', 'wordless'].map((stepId) => log({ stepId, adds: { error } })),
  )

  expect(steps['answered']).toMatchObject({ status: 'ok', error: { ...error, isHandled: true } })
  expect(steps['not-answered']).toMatchObject({ status: 'error', error })
  expect(steps['wordless']).toMatchObject({ status: 'error', error })
})

test('session facts of a record without a step go to the root', () => {
  const steps = resolveById(
    [
      outline({ id: 'orphan', parentId: 'gone' }),
      outline({ id: 'root', from: 5, session: { userId: 'root says' } }),
    ],
    [log({ stepId: 'nobody', adds: { session: { userId: 'log says', threadId: 't1' } } })],
  )

  expect(steps['root']?.session).toEqual({ userId: 'root says', threadId: 't1' })
})

test('a call whose tokens arrive as a log record is priced', () => {
  const pricer: Pricer = {
    price: ({ usage }) => (usage?.input === undefined ? null : { cost: usage.input, source: 'computed' }),
  }
  const steps = resolveById(
    [outline({ id: 'call', kind: 'llm' })],
    [log({ stepId: 'call', adds: { model: 'gpt-4o', usage: { input: 3 } } })],
    { pricer },
  )

  expect(steps['call']).toMatchObject({ cost: 3, costSource: 'computed', usageScope: 'call' })
})
