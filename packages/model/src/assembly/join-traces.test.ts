import fc from 'fast-check'
import { expect, test } from 'vitest'
import { outline } from '../../test/outline.ts'
import { spanToStep } from '../dialects/drafts/span-to-step.ts'
import { emptyAttributes, type Span } from '../otlp/span.ts'
import type { StepOutline } from '../session/step-draft.ts'
import { asOneSession, describeTrace, joinTraces } from './join-traces.ts'

type Links = { to?: [traceId: string, stepId: string][]; isMessage?: boolean }

/** A root of a trace that is named like its step. */
function root(id: string, [from, to]: [number, number | null], { to: links, isMessage }: Links = {}) {
  return outline({
    id,
    sessionId: id,
    from,
    to,
    ...(links !== undefined && {
      cause: {
        steps: links.map(([traceId, stepId]) => ({ traceId, stepId })),
        ...(isMessage === true && { isMessage }),
      },
    }),
  })
}

function sessionsOf(outlines: readonly StepOutline[]): Record<string, string> {
  const traces = Map.groupBy(outlines, ({ sessionId }) => sessionId)
  return Object.fromEntries(joinTraces([...traces].map(([id, steps]) => describeTrace(id, steps))))
}

test('a trace that began while the linked trace was active is part of it, however many links away', () => {
  const first = root('first', [0, 100])
  const second = root('second', [50, 300], { to: [['first', 'first']] })
  const third = root('third', [299, 400], { to: [['second', 'second']] })
  expect(sessionsOf([third, first, second])).toEqual({ second: 'first', third: 'first' })
})

test('a later turn that links to the turn before is a session of its own', () => {
  const turn = root('turn', [0, 100])
  expect(sessionsOf([turn, root('next', [101, 200], { to: [['turn', 'turn']] })])).toEqual({})
})

test('a message may wait a minute for whoever handles it', () => {
  const sent = root('sent', [0, 100])
  const handled = (from: number) =>
    root('handled', [from, from + 10], { to: [['sent', 'sent']], isMessage: true })
  expect(sessionsOf([sent, handled(60_100)])).toEqual({ handled: 'sent' })
  expect(sessionsOf([sent, handled(60_101)])).toEqual({})
})

test('a model call continues the call that asked for its tool results, wherever it stands in its trace', () => {
  const asked = outline({ id: 'asked', sessionId: 'first', kind: 'llm', from: 0, to: 100 })
  const continued = (from: number) => [
    outline({ id: 'client', sessionId: 'second', kind: 'llm', from, to: from + 50 }),
    outline({
      id: 'call',
      sessionId: 'second',
      parentId: 'client',
      kind: 'llm',
      from,
      to: from + 50,
      cause: { steps: [{ traceId: 'first', stepId: 'asked' }], isContinued: true },
    }),
  ]
  expect(sessionsOf([asked, ...continued(3_600_100)])).toEqual({ second: 'first' })
  expect(sessionsOf([asked, ...continued(3_600_101)])).toEqual({})
})

test('the links of the earliest root count, and those of other steps do not', () => {
  const earlier = root('earlier', [0, 100])
  const links: Links = { to: [['earlier', 'earlier']] }
  const begun = outline({ id: 'begun', sessionId: 'trace', from: 10, to: 90 })
  const below = { ...root('below', [20, 30], links), sessionId: 'trace', parentId: 'begun' }
  const other = { ...root('other', [40, 50], links), sessionId: 'trace' }
  expect(sessionsOf([earlier, other, below, begun])).toEqual({})
  expect(sessionsOf([earlier, other])).toEqual({ trace: 'earlier' })
})

test('of several linked traces, the first that it can be a part of counts', () => {
  const links: Links = {
    to: [
      ['over', 'over'],
      ['unknown', 'x'],
      ['open', 'open'],
      ['also', 'also'],
    ],
  }
  const traces = [root('over', [0, 10]), root('open', [0, 90]), root('also', [0, 90])]
  expect(sessionsOf([...traces, root('trace', [50, 60], links)])).toEqual({ trace: 'open' })
})

test('traces that link to each other are one session, named after the earliest', () => {
  const circle = [
    root('b', [5, 100], { to: [['a', 'a']] }),
    root('a', [5, 100], { to: [['c', 'c']] }),
    root('c', [9, 100], { to: [['b', 'b']] }),
    root('outside', [20, 30], { to: [['c', 'c']] }),
  ]
  expect(sessionsOf(circle)).toEqual({ b: 'a', c: 'a', outside: 'a' })
})

test('a root becomes a child only of a linked step that was active when it began', () => {
  const sender = root('sender', [0, 100])
  const during = root('during', [50, 300], { to: [['sender', 'sender']] })
  const after = root('after', [101, 300], { to: [['sender', 'sender']], isMessage: true })
  const joined = asOneSession('sender', [sender, during, after])
  expect(joined.map(({ id, sessionId, parentId }) => [id, sessionId, parentId])).toEqual([
    ['sender', 'sender', null],
    ['during', 'sender', 'sender'],
    ['after', 'sender', null],
  ])
})

test('the order in which steps arrive does not matter', () => {
  const trace = fc.record({
    from: fc.integer({ min: 0, max: 20 }),
    length: fc.integer({ min: 0, max: 10 }),
    links: fc.array(fc.integer({ min: 0, max: 7 }), { maxLength: 3 }),
    isMessage: fc.boolean(),
  })
  const run = fc
    .array(trace, { minLength: 2, maxLength: 8 })
    .map((traces) =>
      traces.flatMap(({ from, length, links, isMessage }, index) => [
        root(`t${index}`, [from, from + length], { to: links.map((to) => [`t${to}`, `t${to}`]), isMessage }),
        outline({ id: `child${index}`, sessionId: `t${index}`, parentId: `t${index}`, from, to: from + 15 }),
      ]),
    )
  const inTwoOrders = run.chain((outlines) =>
    fc.tuple(
      fc.constant(outlines),
      fc.shuffledSubarray(outlines, { minLength: outlines.length, maxLength: outlines.length }),
    ),
  )
  fc.assert(
    fc.property(inTwoOrders, ([outlines, shuffled]) => {
      expect(sessionsOf(shuffled)).toEqual(sessionsOf(outlines))
    }),
  )
})

function span(parts: Partial<Span>): Span {
  return {
    traceId: 'a'.repeat(32),
    spanId: 'b'.repeat(16),
    parentSpanId: null,
    isParentRemote: false,
    name: 'step',
    kind: 1,
    startNs: 1n,
    endNs: 2n,
    statusCode: 0,
    statusMessage: '',
    attributes: emptyAttributes(),
    events: [],
    links: [{ traceId: 'c'.repeat(32), spanId: 'd'.repeat(16), attributes: emptyAttributes() }],
    resource: emptyAttributes(),
    scope: { name: 'test', version: '' },
    ...parts,
  }
}

const steps = [{ traceId: 'c'.repeat(32), stepId: 'd'.repeat(16) }]

test.each([
  ['of a root', {}, { steps }],
  ['of a root that sends a message', { kind: 4 }, { steps, isMessage: true }],
  ['of a root that handles a message', { kind: 5 }, { steps, isMessage: true }],
  ['of a root that is an incoming request', { kind: 2 }, undefined],
  ['of a step below', { parentSpanId: 'e'.repeat(16) }, undefined],
  ['to the same trace', { traceId: 'c'.repeat(32) }, undefined],
  ["of our SDK's sessions", { scope: { name: 'playhead', version: '' } }, undefined],
])('links %s', (_, parts, cause) => {
  expect(spanToStep(span(parts)).outline.cause).toEqual(cause)
})
