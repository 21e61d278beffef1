import { expect, test } from 'vitest'
import { outline, resolveById } from '../../test/outline.ts'
import { sessionOf } from '../../test/session-of.ts'

const root = outline({ id: 'root', kind: 'agent', to: 500 })
const asking = {
  kind: 'llm' as const,
  parentId: 'root',
  reporter: 'logfire.openai',
  model: 'gpt-4o-mini',
  inputPreview: 'Weather?',
}
const call = outline({ ...asking, id: 'call', from: 10, to: 14 })
const answer = outline({
  ...asking,
  id: 'answer',
  from: 90,
  to: 90,
  usage: { input: 110, output: 31 },
  cost: 0.1,
  outputPreview: 'sunny',
})

test('the answer of a stream that was logged beside its call is part of the call', () => {
  const { session, steps } = sessionOf([root, call, answer], {
    call: { messages: [{ role: 'user', parts: [{ type: 'text', text: 'Weather?' }] }] },
    answer: {
      messages: [
        { role: 'user', parts: [{ type: 'text', text: 'Weather?' }] },
        { role: 'assistant', parts: [{ type: 'text', text: 'sunny' }], isOutput: true },
      ],
    },
  })

  expect(steps.map(({ id }) => id)).toEqual(['root', 'call'])
  expect(steps[1]).toMatchObject({
    durationMs: 80,
    usage: { input: 110, output: 31 },
    usageScope: 'call',
    cost: 0.1,
    outputPreview: 'sunny',
    messages: [
      { role: 'user', parts: [{ type: 'text', text: 'Weather?' }] },
      { role: 'assistant', parts: [{ type: 'text', text: 'sunny' }], isOutput: true },
    ],
  })
  expect(session).toMatchObject({ llmCallCount: 1, stepCount: 2, cost: 0.1 })
})

test('of parallel calls, an answer belongs to the one with its question', () => {
  const other = outline({ ...asking, id: 'other', from: 5, to: 9, inputPreview: 'Time?' })

  const steps = resolveById([root, other, call, answer])

  expect(steps['call']).toMatchObject({ parts: ['answer'], outputPreview: 'sunny' })
  expect(steps['other']?.parts).toBeUndefined()
})

test.each([
  ['another sender', { reporter: 'logfire' }],
  ['another parent', { parentId: 'call' }],
  ['another model', { model: 'gpt-4o' }],
  ['a duration', { endedAtMs: answer.endedAtMs! + 5 }],
])('a call with %s is a call of its own', (_what, changed) => {
  const steps = resolveById([root, call, { ...answer, ...changed }])

  expect(Object.keys(steps)).toEqual(['root', 'call', 'answer'])
})

const asked = outline({
  id: 'asked',
  kind: 'action',
  parentId: 'call',
  from: 12,
  to: 13,
  toolName: 'get_weather',
  inputPreview: 'city=Paris',
})

test("a model's request for a tool is part of its answer and no action", () => {
  const { session, steps } = sessionOf([root, call, asked], {
    call: { messages: [{ role: 'assistant', parts: [], isOutput: true }] },
    asked: { tool: { name: 'get_weather', callId: 'c1', arguments: { city: 'Paris' } } },
  })

  expect(session).toMatchObject({ actionCount: 0, tools: [], stepCount: 2 })
  expect(steps[1]?.messages).toEqual([
    {
      role: 'assistant',
      parts: [{ type: 'tool-call', id: 'c1', name: 'get_weather', arguments: { city: 'Paris' } }],
      isOutput: true,
    },
  ])
})

test('a request that the answer already has is not added again', () => {
  const message = {
    role: 'assistant',
    parts: [{ type: 'tool-call' as const, id: 'c1', name: 'get_weather', arguments: { city: 'Paris' } }],
    isOutput: true,
  }

  const { steps } = sessionOf([root, call, asked], {
    call: { messages: [message] },
    asked: { tool: { name: 'get_weather', callId: 'c1', arguments: { city: 'Paris' } } },
  })

  expect(steps[1]?.messages).toEqual([message])
})

test.each([
  ['has a result', { outputPreview: 'sunny' }],
  ['failed', { status: 'error' as const, error: { type: 'Error', message: 'no' } }],
  ['still runs', { status: 'running' as const, endedAtMs: null }],
  ['is below an agent', { parentId: 'root' }],
])('a tool below a call that %s is an action', (_what, changed) => {
  const steps = resolveById([root, call, { ...asked, ...changed }])

  expect(steps['asked']?.kind).toBe('action')
})

test('a turn that repeats the tokens of the call below it is no call', () => {
  const turn = outline({
    id: 'turn',
    kind: 'llm',
    treeQuestion: 'llm-unless-model-below',
    parentId: 'root',
    usage: { input: 110, output: 31 },
    to: 300,
  })
  const below = outline({
    ...asking,
    id: 'below',
    parentId: 'turn',
    usage: { input: 110, output: 31 },
    outputPreview: 'sunny',
  })

  const { session, steps } = sessionOf([root, turn, below])

  expect(steps.map(({ kind, usageScope }) => [kind, usageScope])).toEqual([
    ['agent', undefined],
    ['workflow', 'rollup'],
    ['llm', 'call'],
  ])
  expect(session).toMatchObject({ llmCallCount: 1, usage: { input: 110, output: 31 } })
})
