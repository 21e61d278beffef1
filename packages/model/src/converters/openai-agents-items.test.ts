import { expect, test } from 'vitest'
import { loadItems, loadJson } from '../../test/load-fixture.ts'
import { find, outlineOf } from '../../test/steps-of.ts'
import type { Span } from '../otlp/span.ts'
import { openAiAgentsItemToSpan } from './openai-agents-items.ts'
import { spanToStep } from '../dialects/drafts/span-to-step.ts'

const spans = () =>
  loadItems('otlp/openai-agents-js-0.20').map((item) => openAiAgentsItemToSpan(item, 7n) as Span)
const steps = () => spans().map(spanToStep)

test('a trace is the root without times, and the parent of spans without one', () => {
  const [root, ...others] = spans()
  const top = others.filter((span) => span.traceId === root!.traceId && span.parentSpanId === root!.spanId)

  expect(root).toMatchObject({
    traceId: '567f8ce3d6064685ac85ff4932d4933d',
    spanId: '567f8ce3d6064685',
    parentSpanId: null,
    name: 'Weather workflow',
    startNs: 0n,
    endNs: 0n,
  })
  expect(top.map(({ name }) => name)).toEqual(['task', 'task'])
  expect(others[0]).toMatchObject({
    spanId: '45e800bd885c44cd8ddd4262',
    parentSpanId: '93cb845bd168432c973cafda',
    startNs: 1_794_736_020_214_000_000n,
    endNs: 1_794_736_020_215_000_000n,
  })
})

test('every type of span has its kind', () => {
  expect(outlineOf(steps()).slice(0, 13)).toEqual([
    'workflow Weather workflow',
    'guardrail no_politics',
    'llm llm',
    'handoff Triage agent → Weather agent',
    'workflow turn 1',
    'agent Triage agent',
    'llm llm',
    'action get_weather',
    'workflow turn 2',
    'llm llm',
    'workflow turn 3',
    'agent Weather agent',
    'workflow Agent workflow',
  ])
})

test('the session has its name, thread, user and metadata; a default name is ignored', () => {
  const all = steps()

  expect(all[0]!.outline.session).toEqual({
    name: 'Weather workflow',
    threadId: 'sess-42',
    userId: 'user-7',
    metadata: { user_id: 'user-7', plan: 'pro' },
  })
  expect(
    all.find(({ outline }) => outline.parentId === null && outline.name === 'Agent workflow')?.outline
      .session,
  ).toBeUndefined()
})

test('turns report usage, a task is their rollup', () => {
  const all = steps()

  expect(find(all, 'workflow', 'turn 1').outline).toMatchObject({
    usage: { input: 120, output: 35, cacheRead: 64, total: 155 },
    agent: 'Triage agent',
  })
  expect(all[12]!.outline).toMatchObject({ usage: { input: 360, output: 105 }, isUsageRollup: true })
})

test('errors have the inner message, redacted ones at least the outer one', () => {
  const all = steps()

  expect(find(all, 'agent', 'Bad tool agent').outline.error).toEqual({
    type: 'MaxTurnsExceededError',
    message: 'Max turns (2) exceeded',
  })
  expect(find(all, 'action', 'bad_tool').outline.error).toEqual({
    type: 'Error',
    message: 'Error running tool (non-fatal): Tool execution failed. Error details are redacted.',
  })
})

test('responses that an in-process processor adds are read', () => {
  const items = loadJson('otlp/openai-agents-js-0.20/processor-full-spandata.json') as unknown[]
  const call = items.map((item) => spanToStep(openAiAgentsItemToSpan(item, 7n) as Span))[2]!

  expect(call.outline).toMatchObject({
    kind: 'llm',
    model: 'gpt-4o-mini-2024-07-18',
    usage: { input: 120, output: 35, cacheRead: 64, reasoning: 16, total: 155 },
    inputPreview: 'Weather in Paris?',
    outputPreview: '→ transfer_to_Weather_agent()',
  })
})

test('a chat completion has its messages and its model', () => {
  const { outline, content } = spanToStep(
    openAiAgentsItemToSpan(
      {
        object: 'trace.span',
        id: 'span_1',
        trace_id: 'trace_custom-name',
        parent_id: null,
        started_at: '2026-11-15T09:47:00.214123+00:00',
        ended_at: null,
        span_data: {
          type: 'generation',
          model: 'gpt-4o',
          model_config: { temperature: 0.1 },
          input: [{ role: 'user', content: 'hi' }],
          output: [{ role: 'assistant', content: 'hello' }],
          usage: { input_tokens: 3, output_tokens: 2 },
        },
        error: null,
      },
      7n,
    ) as Span,
  )

  expect(outline).toMatchObject({
    kind: 'llm',
    model: 'gpt-4o',
    status: 'running',
    inputPreview: 'hi',
    outputPreview: 'hello',
    usage: { input: 3, output: 2, total: 5 },
  })
  expect(outline.sessionId).toMatch(/^[0-9a-f]{32}$/)
  expect(outline.id).toMatch(/^[0-9a-f]{24}$/)
  expect(outline.startedAtMs).toBeCloseTo(1_794_736_020_214.123, 2)
  expect({ ...content.parameters }).toEqual({ temperature: 0.1 })
})

test('an unknown item is rejected with a reason', () => {
  expect(openAiAgentsItemToSpan(null, 1n)).toBe('an item must be an object')
  expect(openAiAgentsItemToSpan({ object: 'x' }, 1n)).toContain('"trace" or "trace.span"')
  expect(openAiAgentsItemToSpan({ object: 'trace.span', id: 'a' }, 1n)).toContain('"trace_id"')
  expect(openAiAgentsItemToSpan({ object: 'trace' }, 1n)).toContain('"id"')
})

test('a span without times gets the time of its arrival', () => {
  expect(openAiAgentsItemToSpan({ object: 'trace.span', id: 'a', trace_id: 'b' }, 7n)).toMatchObject({
    startNs: 7n,
    endNs: null,
  })
})
