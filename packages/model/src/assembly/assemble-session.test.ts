import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { failed, log, outline, SESSION_START } from '../../test/outline.ts'
import { assembleSession } from './assemble-session.ts'
import type { SessionLog } from './present-step.ts'
import { renderTextReplay } from '../text-replay/text-replay.ts'
import type { StepContent, StepOutline } from '../session/step-draft.ts'
import { stepKinds, type Step } from '../session/step.ts'
import { buildStepTree } from '../session/step-tree.ts'
import { usageFields } from '../session/usage.ts'

const now = { nowMs: SESSION_START + 5000, lastHeardAtMs: SESSION_START + 5000 }

test('a step is presented with its content, times from the session’s start to three decimals, and its logs', () => {
  const content: StepContent = {
    input: { customer_id: null },
    tool: { name: 'fetch_customer_data', arguments: { customer_id: null } },
    error: {
      type: 'ValueError',
      message: 'customer_id cannot be None',
      stack: 'at line 3',
      cause: { type: 'KeyError', message: 'id' },
    },
    attributes: { 'a.b': 1 },
  }
  const session = assembleSession({
    outlines: [
      outline({ id: 'root', to: 4200 }),
      failed({
        id: 'tool',
        kind: 'action',
        name: 'fetch_customer_data',
        toolName: 'fetch_customer_data',
        toolCallId: 'call_1',
        parentId: 'root',
        from: 1890.1252,
        to: 1891.2504,
        message: 'customer_id cannot be None',
        inputPreview: 'customer_id=null',
        model: 'm',
        requestedModel: 'm',
        firstTokenMs: 0.12345,
        isStreamAborted: true,
      }),
    ],
    contents: new Map([['tool', content]]),
    logs: [
      { ...log({ at: 1890.5, stepId: 'tool', name: 'note' }), content: { body: 'hello', attributes: {} } },
      log({ at: 1890.2, stepId: 'tool', severity: 'warn', name: 'earlier' }),
      log({ at: 5, stepId: 'nobody', name: 'of the session' }),
    ],
    ...now,
  })

  expect(session.steps).toEqual([
    {
      id: 'root',
      parentId: null,
      kind: 'other',
      name: 'root',
      startedAt: '2026-01-02T03:04:05.000Z',
      endedAt: '2026-01-02T03:04:09.200Z',
      offsetMs: 0,
      durationMs: 4200,
      status: 'ok',
      hasPayload: false,
      cost: null,
      dialect: 'otel-genai',
      logs: [
        {
          at: '2026-01-02T03:04:05.005Z',
          offsetMs: 5,
          severity: 'info',
          name: 'of the session',
          body: null,
        },
      ],
    },
    {
      id: 'tool',
      parentId: 'root',
      kind: 'action',
      name: 'fetch_customer_data',
      startedAt: '2026-01-02T03:04:06.890Z',
      endedAt: '2026-01-02T03:04:06.891Z',
      offsetMs: 1890.125,
      durationMs: 1.125,
      status: 'error',
      error: {
        type: 'ValueError',
        message: 'customer_id cannot be None',
        stack: 'at line 3',
        cause: { type: 'KeyError', message: 'id' },
        isHandled: true,
      },
      hasPayload: true,
      cost: null,
      dialect: 'otel-genai',
      inputPreview: 'customer_id=null',
      model: 'm',
      tool: { name: 'fetch_customer_data', callId: 'call_1', arguments: { customer_id: null } },
      streaming: { firstTokenMs: 0.123, isAborted: true },
      input: { customer_id: null },
      attributes: { 'a.b': 1 },
      logs: [
        { at: '2026-01-02T03:04:06.890Z', offsetMs: 1890.2, severity: 'warn', name: 'earlier', body: null },
        {
          at: '2026-01-02T03:04:06.890Z',
          offsetMs: 1890.5,
          severity: 'info',
          name: 'note',
          body: 'hello',
          attributes: {},
        },
      ],
    },
  ])
})

test('a child that starts before the root because of clock skew starts the session', () => {
  const session = assembleSession({
    outlines: [
      outline({ id: 'root', from: 100, to: 300 }),
      outline({ id: 'remote', parentId: 'root', from: 40, to: 90 }),
    ],
    ...now,
  })

  expect(session.steps.map((step) => [step.id, step.offsetMs])).toEqual([
    ['remote', 0],
    ['root', 60],
  ])
  expect(session.session.durationMs).toBe(260)
})

test('messages from logs fill each side of a call that the span lacks', () => {
  const asked = { role: 'user', parts: [{ type: 'text' as const, text: 'Weather?' }] }
  const answered = { role: 'assistant', parts: [{ type: 'text' as const, text: 'Sunny.' }], isOutput: true }
  const own = { role: 'assistant', parts: [{ type: 'text' as const, text: 'from the span' }], isOutput: true }
  const message = (at: number, stepId: string, messages: (typeof asked)[]): SessionLog => ({
    ...log({ at, stepId, adds: { sequence: at } }),
    content: { body: null, attributes: {}, messages, input: `input ${at}`, output: `output ${at}` },
  })
  const session = assembleSession({
    outlines: [outline({ id: 'bare', kind: 'llm' }), outline({ id: 'half', kind: 'llm', from: 1 })],
    contents: new Map([['half', { messages: [own], output: 'own output', attributes: {} }]]),
    logs: [
      message(2, 'bare', [answered]),
      message(1, 'bare', [asked]),
      message(1, 'half', [asked]),
      message(2, 'half', [answered]),
    ],
    ...now,
  })

  expect(
    session.steps.map(({ messages, input, output, hasPayload }) => ({ messages, input, output, hasPayload })),
  ).toEqual([
    { messages: [asked, answered], input: 'input 1', output: 'output 1', hasPayload: false },
    { messages: [asked, own], input: 'input 1', output: 'own output', hasPayload: true },
  ])
})

const ids = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
const anyId = fc.constantFrom(...ids)
const anyTime = fc.oneof(
  fc.integer({ min: 0, max: 60 }).map((offset) => SESSION_START + offset),
  fc.constantFrom(0, -1, Number.NaN, Infinity, 1e300),
)
const anyOutline: fc.Arbitrary<StepOutline> = fc
  .record(
    {
      sessionId: fc.constant('s'),
      id: anyId,
      parentId: fc.oneof(anyId, fc.constantFrom(null, 'gone')),
      isParentRemote: fc.boolean(),
      startedAtMs: anyTime,
      endedAtMs: fc.option(anyTime),
      kind: fc.constantFrom(...stepKinds),
      name: fc.constantFrom('one', 'two', ''),
      dialect: fc.constantFrom('mcp', 'playhead'),
      status: fc.constantFrom('ok', 'ok', 'error', 'soft-error', 'running'),
      error: fc.record({ type: fc.constant('E'), message: fc.constantFrom('', 'this went wrong', 'that') }),
      model: fc.constantFrom('gpt-4o', 'o3'),
      usage: fc.record({ input: fc.nat(9), output: fc.nat(9), cacheRead: fc.nat(9) }, { requiredKeys: [] }),
      isUsageRollup: fc.boolean(),
      cost: fc.nat(9),
      responseId: fc.constantFrom('r1', 'r2'),
      toolName: fc.constantFrom('search', 'fetch'),
      toolCallId: fc.constantFrom('t1', 't2'),
      guardrail: fc.record({ isTriggered: fc.boolean() }),
      handoff: fc.record({ from: fc.constantFrom('one', 'x') }),
      treeQuestion: fc.constantFrom(
        'llm-unless-model-below',
        'agent-if-tools-below',
        'workflow-if-ai-below',
        'parent-by-time',
      ),
      session: fc.record(
        { endState: fc.constantFrom('success', 'fail'), tags: fc.array(fc.constantFrom('x', 'y')) },
        { requiredKeys: [] },
      ),
    },
    {
      requiredKeys: [
        'sessionId',
        'id',
        'parentId',
        'isParentRemote',
        'startedAtMs',
        'endedAtMs',
        'kind',
        'name',
        'dialect',
        'status',
      ],
    },
  )
  .map((parts) => parts as StepOutline)
const anyLog = fc
  .record(
    {
      sessionId: fc.constant('s'),
      stepId: fc.option(fc.oneof(anyId, fc.constant('gone'))),
      atMs: anyTime,
      severity: fc.constant('info'),
      name: fc.constantFrom('api_request', 'api_error'),
      adds: fc.record(
        {
          joinTo: fc.record(
            { kind: fc.constantFrom('llm', 'action'), toolCallId: fc.constantFrom('t1', 't9') },
            { requiredKeys: ['kind'] },
          ),
          inputPreview: fc.constantFrom('x', 'y'),
          usage: fc.record({ input: fc.nat(9) }),
          reportedCost: fc.nat(3),
          error: fc.record({ type: fc.constant('E'), message: fc.constant('that') }),
        },
        { requiredKeys: [] },
      ),
    },
    { requiredKeys: ['sessionId', 'stepId', 'atMs', 'severity', 'name'] },
  )
  .map((parts) => parts as SessionLog)
const anyParts = fc.record({
  outlines: fc.uniqueArray(anyOutline, { selector: ({ id }) => id, maxLength: 8 }),
  logs: fc.array(anyLog, { maxLength: 6 }),
})

test('the order of arrival never changes the session', () => {
  fc.assert(
    fc.property(anyParts, fc.infiniteStream(fc.nat(1000)), ({ outlines, logs }, numbers) => {
      const shuffle = <Item>(items: readonly Item[]): Item[] =>
        items
          .map((item): [number, Item] => [numbers.next().value, item])
          .toSorted(([left], [right]) => left - right)
          .map(([, item]) => item)

      expect(assembleSession({ outlines: shuffle(outlines), logs: shuffle(logs), ...now })).toEqual(
        assembleSession({ outlines, logs, ...now }),
      )
    }),
    { numRuns: 500 },
  )
})

test('for any input, every step appears once, in order, below parents that lead to a root', () => {
  fc.assert(
    fc.property(
      fc.array(anyOutline, { maxLength: 12 }),
      fc.array(anyLog, { maxLength: 4 }),
      (outlines, logs) => {
        const { session, steps } = assembleSession({ outlines, logs, ...now })
        const byId = new Map(steps.map((step) => [step.id, step]))

        expect([...byId.keys()].toSorted()).toEqual([...new Set(outlines.map(({ id }) => id))].toSorted())
        expect(session.stepCount).toBe(steps.length)
        let previousMs = 0
        for (const step of steps) {
          expect(step.offsetMs).toBeGreaterThanOrEqual(previousMs)
          expect(step.durationMs ?? 0).toBeGreaterThanOrEqual(0)
          previousMs = step.offsetMs
          let current = step
          for (let hops = 0; current.parentId !== null && byId.has(current.parentId); hops += 1) {
            expect(hops).toBeLessThan(steps.length)
            current = byId.get(current.parentId)!
          }
          expect(current.parentId === null || current.isOrphan === true).toBe(true)
        }
        expect(typeof renderTextReplay({ session, steps })).toBe('string')
        expect(buildStepTree(steps).length > 0).toBe(steps.length > 0)
      },
    ),
    { numRuns: 500 },
  )
})

test('the session’s tokens and cost are the sums over the steps that count, and no step counts below one that does', () => {
  fc.assert(
    fc.property(anyParts, ({ outlines, logs }) => {
      const { session, steps } = assembleSession({ outlines, logs, ...now })
      const counted = steps.filter((step) => step.usageScope === 'call')
      for (const field of usageFields) {
        if (field === 'total') continue
        const reported = counted.flatMap((step) => step.usage?.[field] ?? [])
        const sum = reported.length === 0 ? undefined : reported.reduce((left, right) => left + right, 0)
        expect(session.usage[field]).toBe(sum)
      }
      const costs = counted.flatMap((step) => step.cost ?? [])
      expect(session.cost).toBe(costs.length === 0 ? null : costs.reduce((left, right) => left + right, 0))

      const byId = new Map(steps.map((step) => [step.id, step]))
      const hasTokens = ({ usage }: Step) => Object.values(usage ?? {}).some((count) => count > 0)
      const aboveOf = (step: Step): Step[] => {
        const parent = byId.get(step.parentId ?? '')
        return parent === undefined ? [] : [parent, ...aboveOf(parent)]
      }
      const countedTwice = counted.filter(
        (step) =>
          hasTokens(step) && aboveOf(step).some((above) => above.usageScope === 'call' && hasTokens(above)),
      )
      expect(countedTwice).toEqual([])
    }),
    { numRuns: 500 },
  )
})
