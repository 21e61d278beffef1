import { expect, test } from 'vitest'
import { failed, outline, resolveById } from '../../test/outline.ts'
import { sessionOf } from '../../test/session-of.ts'

const usage = { input: 1253, output: 41, cacheRead: 1001 }
const shared = { kind: 'llm' as const, model: 'claude-sonnet-4-5', responseId: 'msg_1', usage, cost: 0.1 }
/** As Anthropic's SDK traces its calls: without content. */
const client = outline({ ...shared, id: 'client', reporter: 'com.anthropic.sdk', firstTokenMs: 30, to: 100 })
/** As an instrumentation below it reads the same call. */
const captured = outline({
  ...shared,
  id: 'captured',
  parentId: 'client',
  reporter: 'playhead',
  inputPreview: 'Weather?',
  outputPreview: 'sunny',
  from: 10,
  to: 90,
})

test("a client's own span around a captured call is one step with it", () => {
  const messages = [
    { role: 'user' as const, parts: [{ type: 'text' as const, text: 'Weather?' }] },
    {
      role: 'assistant' as const,
      parts: [{ type: 'text' as const, text: 'sunny' }],
      isOutput: true as const,
    },
  ]
  const inside = outline({ id: 'http', parentId: 'captured', from: 20, to: 80 })
  const beside = outline({ id: 'retry', parentId: 'client', from: 5, to: 8 })
  const { session, steps } = sessionOf([client, captured, inside, beside], {
    client: { parameters: { max_tokens: 500 } },
    captured: { messages },
  })

  expect(steps.map(({ id, parentId }) => [id, parentId])).toEqual([
    ['retry', null],
    ['captured', null],
    ['http', 'captured'],
  ])
  expect(steps[1]).toMatchObject({
    usage,
    usageScope: 'call',
    cost: 0.1,
    messages,
    streaming: { firstTokenMs: 30 },
    parameters: { max_tokens: 500 },
  })
  expect(session).toMatchObject({ llmCallCount: 1, usage, cost: 0.1 })
})

test("a framework's call takes the figures of the client's span below it", () => {
  const framework = outline({
    id: 'framework',
    kind: 'llm',
    model: 'claude-sonnet-4-5',
    reporter: 'openinference.langchain',
    usage: { input: 0, output: 41 },
    inputPreview: 'Weather?',
    to: 110,
  })
  const { session, steps } = sessionOf([
    framework,
    { ...client, parentId: 'framework', model: 'claude-sonnet-4-5-20250929' },
  ])

  expect(steps).toHaveLength(1)
  expect(steps[0]).toMatchObject({ id: 'framework', model: 'claude-sonnet-4-5-20250929', usage })
  expect(session).toMatchObject({ llmCallCount: 1, usage, cost: 0.1 })
})

test('a call that failed twice on its way is one step with one error', () => {
  const { responseId: _, usage: __, cost: ___, ...asked } = shared
  const error = { type: 'BadRequest', message: 'bad' }
  const { session, steps } = sessionOf([
    failed({ ...asked, id: 'client', reporter: 'com.anthropic.sdk', error, to: 100 }),
    failed({ ...asked, id: 'captured', parentId: 'client', reporter: 'playhead', inputPreview: 'x', error }),
  ])

  expect(steps.map(({ id, parentId }) => [id, parentId])).toEqual([['captured', null]])
  expect(session).toMatchObject({ llmCallCount: 1, errorCount: 1, endState: 'fail' })
})

test('a call that failed is one step with the report beside it that has its content', () => {
  const { responseId: _, usage: __, cost: ___, ...asked } = shared
  const ask = (id: string, inputPreview: string, from: number, to: number) => [
    failed({ ...asked, id, parentId: 'run', reporter: 'traceloop', inputPreview, from, to }),
    failed({
      ...asked,
      id: `${id}-client`,
      parentId: 'run',
      reporter: 'com.anthropic',
      from: from + 2,
      to: to - 2,
    }),
  ]
  const { session, steps } = sessionOf([
    failed({ id: 'run', kind: 'workflow', to: 300 }),
    ...ask('first', 'x', 10, 100),
    ...ask('second', 'y', 110, 200),
  ])

  expect(steps.map(({ id }) => id)).toEqual(['run', 'first', 'second'])
  expect(session).toMatchObject({ llmCallCount: 2 })
})

test('a report far from the other is known by its response id', () => {
  const agent = outline({ id: 'agent', kind: 'agent', to: 200 })
  const work = outline({ id: 'work', parentId: 'client', from: 5, to: 95 })
  const steps = resolveById([
    agent,
    { ...client, parentId: 'agent' },
    work,
    { ...captured, parentId: 'work' },
  ])

  expect(Object.values(steps).map(({ id, parentId }) => [id, parentId])).toEqual([
    ['agent', null],
    ['work', 'agent'],
    ['captured', 'work'],
  ])
})

test.each<[string, Parameters<typeof resolveById>[0]]>([
  ['are of different calls', [client, { ...captured, responseId: 'msg_2' }]],
  [
    'are several attempts inside of one',
    [
      { ...client, responseId: 'msg_9' },
      { ...captured, responseId: 'msg_8' },
      { ...captured, id: 'second', responseId: 'msg_7' },
    ],
  ],
  ['have no content, both', [client, { ...client, id: 'below', parentId: 'client', reporter: 'other' }]],
  ['have content, both', [{ ...client, inputPreview: 'Weather?' }, captured]],
  [
    'end differently',
    [{ ...client, status: 'error', error: { type: 'ParseError', message: 'no JSON' } }, captured],
  ],
  ['are of the same reporter', [{ ...client, reporter: 'playhead', name: 'captured' }, captured]],
])('reports that %s stay apart', (_, outlines) => {
  expect(Object.keys(resolveById(outlines))).toHaveLength(outlines.length)
})
