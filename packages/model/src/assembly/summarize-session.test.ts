import { expect, test } from 'vitest'
import { failed, outline, SESSION_START } from '../../test/outline.ts'
import { LOST_AFTER_MS } from '../session/end-state.ts'
import { resolveSteps } from './resolve-steps.ts'
import type { StepOutline } from '../session/step-draft.ts'
import { deriveEndState } from './derive-end-state.ts'
import { summarizeSession } from './summarize-session.ts'

const heardNow = { nowMs: SESSION_START + 1000, lastHeardAtMs: SESSION_START + 1000 }
const silent = { nowMs: SESSION_START + LOST_AFTER_MS + 1001, lastHeardAtMs: SESSION_START + 1000 }

function summarize(outlines: StepOutline[], context = heardNow) {
  return summarizeSession(resolveSteps(outlines), context)
}

test('a session is summarized from its steps', () => {
  const summary = summarize([
    outline({
      id: 'root',
      kind: 'agent',
      name: 'support',
      agent: 'support',
      to: 4200,
      inputPreview: 'I was charged twice',
      session: {
        tags: ['support', 'v2.1'],
        userId: 'u1',
        threadId: 't1',
        environment: 'production',
        test: { name: 'billing' },
        vcs: { branch: 'main' },
        metadata: { plan: 'pro' },
        demo: true,
      },
    }),
    outline({
      id: 'call',
      kind: 'llm',
      parentId: 'root',
      from: 1.0004,
      to: 1234.5678,
      model: 'gpt-4o',
      usage: { input: 412, output: 38, cacheRead: 64 },
      cost: 0.003,
      session: { tags: ['v2.1', 'late'], userId: 'somebody else' },
    }),
    outline({
      id: 'lookup',
      kind: 'embedding',
      parentId: 'root',
      from: 5,
      model: 'embed-1',
      usage: { input: 8, total: 8 },
      cost: 0.0001,
    }),
    outline({ id: 'tool', kind: 'action', toolName: 'fetch_customer', parentId: 'root', from: 1890 }),
    failed({ id: 'again', kind: 'action', toolName: 'fetch_customer', parentId: 'root', from: 1900 }),
  ])

  expect(summary).toEqual({
    id: 'a'.repeat(32),
    name: 'support',
    inputPreview: 'I was charged twice',
    endState: 'success',
    startedAt: '2026-01-02T03:04:05.000Z',
    endedAt: '2026-01-02T03:04:09.200Z',
    durationMs: 4200,
    tags: ['support', 'v2.1', 'late'],
    usage: { input: 420, output: 38, cacheRead: 64, total: 458 },
    cost: 0.0031,
    unpricedModels: [],
    stepCount: 5,
    llmCallCount: 1,
    actionCount: 2,
    errorCount: 1,
    models: ['gpt-4o', 'embed-1'],
    agents: ['support'],
    tools: ['fetch_customer'],
    userId: 'u1',
    threadId: 't1',
    environment: 'production',
    test: { name: 'billing' },
    vcs: { branch: 'main' },
    metadata: { plan: 'pro' },
    demo: true,
  })
})

test('a reported end state wins, first that of the root, with its reason', () => {
  const summary = summarize([
    outline({ id: 'early', from: 0, session: { endState: 'success', endStateReason: 'not asked' } }),
    outline({
      id: 'child',
      parentId: 'early',
      to: null,
      session: { endState: 'fail', endStateReason: 'wrong' },
    }),
  ])
  const byChild = summarize([
    failed({ id: 'root' }),
    outline({ id: 'child', parentId: 'root', session: { endState: 'indeterminate' } }),
  ])

  expect([summary.endState, summary.endStateReason]).toEqual(['success', 'not asked'])
  expect([byChild.endState, byChild.endStateReason]).toEqual(['indeterminate', undefined])
})

test('a session with an open step is running while data arrives, then lost', () => {
  const open = [
    outline({ id: 'root', to: null }),
    outline({ id: 'call', kind: 'llm', parentId: 'root', to: 80 }),
  ]

  expect(summarize(open, heardNow)).toMatchObject({ endState: 'running', endedAt: null, durationMs: null })
  expect(summarize(open, silent)).toMatchObject({
    endState: 'lost',
    endedAt: '2026-01-02T03:04:05.080Z',
    durationMs: 80,
  })
})

test('a session without a root is running while data arrives, then lost, or failed if a top step failed', () => {
  const orphan = [outline({ id: 'orphan', parentId: 'gone' })]
  const failedOrphan = [failed({ id: 'orphan', parentId: 'gone', message: 'Max turns exceeded' })]

  expect([summarize(orphan, heardNow).endState, summarize(orphan, silent).endState]).toEqual([
    'running',
    'lost',
  ])
  expect(summarize(failedOrphan, heardNow)).toMatchObject({ endState: 'running' })
  expect(summarize(failedOrphan, silent)).toMatchObject({
    endState: 'fail',
    endStateReason: 'Max turns exceeded',
  })
})

test('a session whose root has ended is not lost when a step in between is missing', () => {
  const gap = [
    outline({ id: 'root', to: 50 }),
    outline({ id: 'call', kind: 'llm', parentId: 'gone', from: 5 }),
  ]

  expect(deriveEndState(resolveSteps(gap))).toEqual({ isOpen: true, whenSilent: 'success' })
  expect(deriveEndState(resolveSteps([...gap, outline({ id: 'open-root', to: null })]))).toEqual({
    isOpen: true,
    whenSilent: 'lost',
  })
})

test('an error of a root is a failure, a handled one below is not', () => {
  const soft = outline({
    id: 'root',
    kind: 'action',
    status: 'soft-error',
    error: { type: 'ToolError', message: 'not found' },
  })
  const handled = [outline({ id: 'root' }), failed({ id: 'tool', parentId: 'root' })]
  const secondRoot = [outline({ id: 'root' }), failed({ id: 'other', from: 20, message: 'boom' })]

  expect(summarize([soft])).toMatchObject({ endState: 'fail', endStateReason: 'not found', errorCount: 1 })
  expect(summarize(handled)).toMatchObject({ endState: 'success', errorCount: 1 })
  expect(summarize(secondRoot)).toMatchObject({ endState: 'fail', endStateReason: 'boom' })
})

test('an error that is passed on is counted once', () => {
  const summary = summarize([
    failed({ id: 'root', message: 'the same thing' }),
    failed({ id: 'middle', parentId: 'root', message: 'the same thing' }),
    failed({ id: 'deep', parentId: 'middle', message: 'the same thing' }),
  ])

  expect(summary.errorCount).toBe(1)
})

test('the reason of a failure is the original error when the root has no message', () => {
  const summary = summarize([
    failed({ id: 'root', message: 'Error in agent run' }),
    failed({ id: 'call', kind: 'llm', parentId: 'root', message: '429 Rate limit' }),
  ])

  expect([summary.endStateReason, summary.errorCount]).toEqual(['429 Rate limit', 1])
})

test('a reported failure without a reason gets the message of the unhandled error', () => {
  const summary = summarize([
    outline({ id: 'root', session: { endState: 'fail' } }),
    failed({ id: 'attempt', kind: 'llm', parentId: 'root', message: '429' }),
  ])

  expect(summary.endStateReason).toBe('429')
})

test('the name is explicit, or that of the root, of the first agent or workflow, or the input', () => {
  const useless = { id: 'root', name: 'Agent workflow', kind: 'workflow' } as const
  const agent = outline({ id: 'a', kind: 'agent', name: 'run', agent: 'Triage', parentId: 'root' })
  const workflow = outline({ id: 'w', kind: 'workflow', name: 'billing', parentId: 'root' })

  expect(summarize([outline({ ...useless, session: { name: 'mine' } })]).name).toBe('mine')
  expect(summarize([outline({ id: 'root', name: 'checkout' }), agent]).name).toBe('checkout')
  expect(summarize([outline(useless), workflow, agent]).name).toBe('Triage')
  expect(summarize([outline(useless), workflow]).name).toBe('billing')
  expect(summarize([outline({ ...useless, inputPreview: 'Where is my parcel?' })]).name).toBe(
    'Where is my parcel?',
  )
  expect(summarize([outline(useless)]).name).toBe('Agent workflow')
  expect(
    summarize([outline({ id: 'a', kind: 'llm', name: 'chat o3', model: 'o3', inputPreview: 'Hi' })]).name,
  ).toBe('Hi')
  expect(summarize([outline({ id: 'root', name: '' })]).name).toBe('session')
})

test('tokens and costs are added over the steps that count, and unreported fields stay absent', () => {
  const summary = summarize([
    outline({ id: 'agent', kind: 'agent', usage: { input: 999, output: 999 }, cost: 9 }),
    outline({ id: 'a', kind: 'llm', parentId: 'agent', model: 'm', usage: { input: 1, reasoning: 2 } }),
    outline({ id: 'b', kind: 'llm', parentId: 'agent', model: 'm', usage: { input: 10 }, from: 2 }),
  ])

  expect(summary.usage).toEqual({ input: 11, reasoning: 2 })
  expect(summary.cost).toBeNull()
})

test('models without a price and models that reported no usage are listed apart, each once', () => {
  const summary = summarize([
    outline({ id: 'priced', kind: 'llm', model: 'gpt-4o', usage: { input: 1, output: 1 }, cost: 0.1 }),
    outline({ id: 'no-price', kind: 'llm', model: 'my-model', usage: { input: 1, output: 1 } }),
    outline({ id: 'no-price-2', kind: 'llm', model: 'my-model', usage: { input: 1, output: 1 } }),
    outline({ id: 'no-tokens', kind: 'llm', requestedModel: 'streamed' }),
    outline({ id: 'no-name', kind: 'embedding', usage: { input: 4 } }),
    failed({ id: 'failed', kind: 'llm', model: 'failed-model' }),
    outline({ id: 'open', kind: 'llm', model: 'open-model', to: null }),
    outline({ id: 'turn', kind: 'workflow', usage: { input: 5, output: 5 }, cost: 0.2 }),
    outline({ id: 'told-above', kind: 'llm', model: 'covered', parentId: 'turn' }),
    outline({ id: 'wrapper', kind: 'llm', model: 'seen-below' }),
    outline({
      id: 'wire',
      kind: 'llm',
      model: 'seen-below-1',
      parentId: 'wrapper',
      usage: { input: 1 },
      cost: 0.3,
    }),
  ])

  expect(summary.unpricedModels).toEqual(['unknown model', 'my-model'])
  expect(summary.modelsWithoutUsage).toEqual(['streamed'])
  expect(summary.cost).toBe(0.6)
})

test('a call without output tokens has a price, and a model without price and usage says both', () => {
  const summary = summarize([
    outline({ id: 'partial', kind: 'llm', model: 'gpt-4o', usage: { input: 1 }, cost: 0.1 }),
    outline({ id: 'stored-before', kind: 'llm', model: 'gpt-4.1', usage: { input: 1 } }),
    outline({ id: 'total', kind: 'llm', model: 'gpt-5', usage: { total: 9 } }),
    outline({ id: 'local', kind: 'llm', model: 'mine', usage: { input: 1 }, costSource: 'no-price' }),
    outline({ id: 'silent', kind: 'llm', model: 'quiet', costSource: 'no-price' }),
    outline({ id: 'told', kind: 'llm', model: 'told', usage: { input: 1 }, cost: 1, costSource: 'reported' }),
    outline({ id: 'open', kind: 'llm', model: 'open-model', usage: { input: 1 }, to: null }),
  ])

  expect({
    unpriced: summary.unpricedModels.toSorted(),
    withoutUsage: summary.modelsWithoutUsage,
    withoutOutput: summary.modelsWithoutOutput?.toSorted(),
    cost: summary.cost,
  }).toEqual({
    unpriced: ['mine', 'quiet'],
    withoutUsage: ['quiet'],
    withoutOutput: ['gpt-4.1', 'gpt-4o', 'gpt-5', 'mine'],
    cost: 1.1,
  })
})

test('a call reported again below or beside it is one call', () => {
  const below = summarize([
    outline({ id: 'langchain', kind: 'llm', usage: { input: 1 } }),
    outline({ id: 'openai', kind: 'llm', parentId: 'langchain' }),
    outline({ id: 'captured', kind: 'llm', parentId: 'openai', usage: { input: 1 } }),
  ])
  const beside = summarize([
    outline({ id: 'openai', kind: 'llm', responseId: 'r' }),
    outline({ id: 'captured', kind: 'llm', responseId: 'r', usage: { input: 1 } }),
  ])

  expect([below.llmCallCount, beside.llmCallCount]).toEqual([1, 1])
})

test('an empty session can be rendered', () => {
  expect(summarizeSession([], heardNow)).toMatchObject({
    id: '',
    name: 'session',
    endState: 'running',
    startedAt: '2026-01-02T03:04:06.000Z',
    stepCount: 0,
    cost: null,
  })
})

test('calls that another session counts are calls of this session too, each once', () => {
  const call = (id: string, from: number, reporter: string) =>
    outline({
      id,
      kind: 'llm',
      parentId: 'agent',
      from,
      reporter,
      responseId: `r${from}`,
      usage: { input: 5 },
    })
  const steps = [
    outline({ id: 'agent', kind: 'agent', to: 100 }),
    ...[10, 30, 50].flatMap((from) => [call(`a${from}`, from, 'wrapper'), call(`b${from}`, from, 'wire')]),
  ]
  const duplicateSteps = new Set(steps.slice(1).map(({ id }) => id))
  const { llmCallCount, usage } = summarizeSession(resolveSteps(steps, [], { duplicateSteps }), {
    nowMs: 0,
    lastHeardAtMs: 0,
  })
  expect({ llmCallCount, usage }).toEqual({ llmCallCount: 3, usage: {} })
})

test('a call outside of any run that another session counts is no second call', () => {
  const alone = outline({ id: 'alone', kind: 'llm', responseId: 'r', usage: { input: 5 } })

  const steps = resolveSteps([alone], [], { duplicateSteps: new Set(['alone']) })

  expect(summarizeSession(steps, { nowMs: 0, lastHeardAtMs: 0 })).toMatchObject({
    llmCallCount: 0,
    usage: {},
  })
})

test.each([
  [
    'the question, not the result of a tool',
    { kind: 'llm', inputPreview: 'sunny', questionPreview: 'Weather?' },
    'Weather?',
  ],
  ['the first model call, if the root has JSON', { kind: 'workflow', inputPreview: '{"step":1}' }, 'Hello'],
  ['the root, if it has text', { kind: 'workflow', inputPreview: 'Weather?' }, 'Weather?'],
] as const)('the preview of a session is what the user said: %s', (_case, root, expected) => {
  const { inputPreview } = summarize([
    outline({ id: 'root', to: 90, ...root }),
    outline({ id: 'call', kind: 'llm', parentId: 'root', from: 5, inputPreview: 'Hello' }),
  ])

  expect(inputPreview).toBe(expected)
})

test('a tool on its own was asked by a model, not by the user', () => {
  expect(summarize([outline({ id: 'tool', kind: 'action', inputPreview: 'city=Paris' })])).not.toHaveProperty(
    'inputPreview',
  )
})

test('a session that nobody ended has failed if its last task did', () => {
  const root = outline({ id: 'root', kind: 'workflow', to: 90, session: { endState: 'indeterminate' } })
  const task = failed({ id: 'task', kind: 'workflow', parentId: 'root', from: 5, to: 80 })
  const later = outline({ id: 'later', kind: 'llm', parentId: 'root', from: 85 })

  expect(summarize([root, task]).endState).toBe('fail')
  expect(summarize([root, task, later]).endState).toBe('indeterminate')
  root.session!.endStateReason = 'Interrupted (KeyboardInterrupt)'
  expect(summarize([root, task]).endState).toBe('indeterminate')
})

test('a re-run names the session that it ran again, its step, lane and edit', () => {
  const rerun = {
    parentId: 'b'.repeat(32),
    parentStepId: 'c'.repeat(16),
    lane: 'fork',
    edit: { result: 'c_42' },
  } as const
  const root = outline({ id: 'root', session: { tags: ['rerun'], rerun } })

  expect(summarize([root, outline({ id: 'call', parentId: 'root' })])).toMatchObject(rerun)
  expect(summarize([outline({ id: 'root' })])).not.toHaveProperty('parentId')
})
