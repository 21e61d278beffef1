import { expect, test } from 'vitest'
import { outline, resolveById, SESSION_START } from '../../test/outline.ts'
import { costRelevance, isSameCall } from './same-call.ts'
import { resolveSteps } from './resolve-steps.ts'

const usage = { input: 120, output: 35 }

function scopesOf(steps: ReturnType<typeof resolveById>) {
  return Object.fromEntries(Object.values(steps).map((step) => [step.id, step.usageScope]))
}

test('a step counts unless a step below it does', () => {
  const steps = resolveById([
    outline({ id: 'agent', kind: 'agent', usage: { input: 240, output: 70 } }),
    outline({ id: 'turn', kind: 'workflow', parentId: 'agent' }),
    outline({ id: 'call', kind: 'llm', parentId: 'turn', usage }),
    outline({ id: 'alone', kind: 'agent', usage }),
  ])

  expect(scopesOf(steps)).toEqual({ agent: 'rollup', turn: undefined, call: 'call', alone: 'call' })
})

test('usage that its dialect marks as a rollup is one, and does not replace the step above', () => {
  const steps = resolveById([
    outline({ id: 'run', kind: 'agent', usage }),
    outline({ id: 'task', kind: 'workflow', parentId: 'run', usage, isUsageRollup: true }),
  ])

  expect(scopesOf(steps)).toEqual({ run: 'call', task: 'rollup' })
})

test('a call with only zeros does not replace its wrapper', () => {
  const steps = resolveById([
    outline({ id: 'wrapper', kind: 'workflow', usage }),
    outline({ id: 'call', kind: 'llm', parentId: 'wrapper', usage: { input: 0, output: 0 } }),
  ])

  expect(scopesOf(steps)).toEqual({ wrapper: 'call', call: 'call' })
})

test('a cost without tokens counts unless a step below reports tokens or costs', () => {
  const steps = resolveById([
    outline({ id: 'query', kind: 'agent', cost: 0.5 }),
    outline({ id: 'call', kind: 'llm', parentId: 'query', usage, cost: 0.4 }),
    outline({ id: 'paid-tool', kind: 'action', cost: 0.01 }),
  ])

  expect(scopesOf(steps)).toEqual({ query: 'rollup', call: 'call', 'paid-tool': 'call' })
})

test('of two reports of one call, the more detailed one counts', () => {
  const call = { kind: 'llm', responseId: 'resp_1' } as const
  const steps = resolveById([
    outline({ id: 'framework', name: 'ChatOpenAI', to: 20, model: 'gpt-4o', usage, ...call }),
    outline({
      id: 'wire',
      name: 'chat gpt-4o',
      from: 1,
      to: 19,
      model: 'gpt-4o-2024-08-06',
      usage: { ...usage, cacheRead: 64 },
      ...call,
    }),
    outline({ id: 'streamed', name: 'stream', from: 2, to: 18, ...call }),
    outline({ id: 'other-model', name: 'judge', from: 2, to: 18, model: 'o3', usage, ...call }),
  ])

  expect(scopesOf(steps)).toEqual({
    framework: 'duplicate',
    wire: 'call',
    streamed: 'duplicate',
    'other-model': 'call',
  })
})

test('estimated tokens never win against reported ones, and a tie goes to the earlier step', () => {
  const call = { kind: 'llm', responseId: 'resp_1', model: 'gpt-4o' } as const
  const guessed = resolveById([
    outline({ id: 'a', usage: { ...usage, cacheRead: 3 }, isUsageEstimated: true, ...call }),
    outline({ id: 'b', from: 1, to: 9, usage: { input: 1 }, ...call }),
  ])
  const tie = resolveById([
    outline({ id: 'z', usage, ...call }),
    outline({ id: 'a', from: 1, to: 9, usage, ...call }),
  ])

  expect(scopesOf(guessed)).toEqual({ a: 'duplicate', b: 'call' })
  expect(scopesOf(tie)).toEqual({ z: 'call', a: 'duplicate' })
})

test('calls of a scripted model that repeats its response id are separate calls, sequential or parallel', () => {
  const call = { kind: 'llm', name: 'chat', responseId: 'chatcmpl-123', model: 'mock', usage } as const
  const steps = resolveById([
    outline({ id: 'a', from: 0, to: 10, ...call }),
    outline({ id: 'b', from: 20, to: 30, ...call }),
    outline({ id: 'c', from: 21, to: 31, ...call }),
    outline({ id: 'd', from: 40, to: 50, ...call, name: 'another instrumentation' }),
  ])

  expect(scopesOf(steps)).toEqual({ a: 'call', b: 'call', c: 'call', d: 'call' })
})

test('two reports of one call are distinguished from two calls, also across sessions', () => {
  const call = { kind: 'llm', responseId: 'r1', model: 'gpt-4o' } as const
  const framework = outline({ id: 'a', name: 'ChatOpenAI', ...call })
  const wire = outline({ id: 'b', name: 'chat', from: 1, to: 9, ...call, model: 'gpt-4o-2024-08-06' })

  expect(isSameCall(framework, wire)).toBe(true)
  expect(isSameCall(framework, { ...wire, responseId: 'r2' })).toBe(false)
  expect(isSameCall(framework, { ...wire, model: 'o3' })).toBe(false)
  expect(isSameCall(framework, { ...wire, name: 'ChatOpenAI' })).toBe(false)
  expect(isSameCall(framework, outline({ id: 'c', from: 50, ...call }))).toBe(false)
  expect(costRelevance({ ...framework, parentId: 'agent' })).toBeGreaterThan(costRelevance(wire))
})

test('a wrapper and its call with one response id are no duplicates', () => {
  const call = { kind: 'llm', responseId: 'resp_1', model: 'gpt-4o' } as const
  const steps = resolveById([
    outline({ id: 'outer', usage: { ...usage, cacheRead: 1 }, cost: 1, ...call }),
    outline({ id: 'inner', parentId: 'outer', usage, ...call }),
  ])

  expect(scopesOf(steps)).toEqual({ outer: 'rollup', inner: 'call' })
  expect(steps['outer']?.isRepeatedBelow).toBe(true)
})

test('a step that is counted in another session is a duplicate, and its wrapper is still a rollup', () => {
  const steps = resolveById(
    [
      outline({ id: 'chain', kind: 'workflow', usage }),
      outline({ id: 'call', kind: 'llm', parentId: 'chain', usage }),
    ],
    [],
    { duplicateSteps: new Set(['call', 'chain']) },
  )

  expect(scopesOf(steps)).toEqual({ chain: 'rollup', call: 'duplicate' })
})

test('a call whose tokens are reported by its wrapper is counted there', () => {
  const steps = resolveById([
    outline({ id: 'turn', kind: 'workflow', usage }),
    outline({ id: 'http', parentId: 'turn' }),
    outline({ id: 'response', kind: 'llm', parentId: 'http' }),
  ])

  expect(steps['response']).toMatchObject({ isCountedAbove: true })
  expect(steps['http']).not.toHaveProperty('isCountedAbove')
})

test.each([
  ['another instrumentation, at the same time, with the same tokens', {}, 1],
  ['another instrumentation, with other tokens', { usage: { input: 100, output: 21 } }, 2],
  ['another instrumentation, later', { startedAtMs: SESSION_START + 200, endedAtMs: SESSION_START + 300 }, 2],
  ['the same instrumentation', { name: 'other', reporter: 'one' }, 2],
])('a call beside one without a response id is counted once if reported by %s', (_case, change, count) => {
  const call = { kind: 'llm' as const, parentId: 'root', usage: { input: 100, output: 20 }, from: 1, to: 100 }
  const steps = resolveSteps([
    outline({ id: 'root', kind: 'workflow', to: 400 }),
    outline({ ...call, id: 'one', dialect: 'openinference', reporter: 'one' }),
    {
      ...outline({ ...call, id: 'two', dialect: 'otel-genai', reporter: 'two', responseId: 'reply' }),
      ...change,
    },
  ])

  expect(steps.filter(({ usageScope }) => usageScope === 'call')).toHaveLength(count)
})
