import { expect, test } from 'vitest'
import { failed, outline, SESSION_START } from '../test/outline.ts'
import { assembleSession } from './assemble-session.ts'
import { LOST_AFTER_MS } from './end-state.ts'
import type { Session } from './session.ts'
import type { StepContent, StepOutline } from './step-draft.ts'
import { renderTextReplay } from './text-replay.ts'

function sessionOf(
  outlines: StepOutline[],
  contents: { [id: string]: Omit<StepContent, 'attributes'> } = {},
): Session {
  return assembleSession({
    outlines: outlines.map((step) => ({ ...step, sessionId: 'abc12345'.padEnd(32, '0') })),
    contents: new Map(Object.entries(contents).map(([id, content]) => [id, { ...content, attributes: {} }])),
    nowMs: SESSION_START + 10_000,
    lastHeardAtMs: SESSION_START + 10_000,
  })
}

const support = [
  outline({
    id: 'root',
    kind: 'workflow',
    name: 'support',
    to: 4200,
    status: 'error',
    error: { type: 'ValueError', message: 'customer_id cannot be None' },
  }),
  outline({
    id: 'call',
    kind: 'llm',
    parentId: 'root',
    from: 0,
    to: 1200,
    model: 'gpt-4o',
    usage: { input: 400, output: 200 },
    cost: 0.003,
    inputPreview: 'I was charged twice...',
    outputPreview: "I'll look into your billing issue...",
  }),
  outline({
    id: 'classify',
    kind: 'action',
    name: 'classify_intent',
    parentId: 'root',
    from: 1234,
    to: 1800,
    inputPreview: '"billing_dispute"',
    outputPreview: 'billing',
  }),
  failed({
    id: 'fetch',
    kind: 'action',
    name: 'fetch_customer_data',
    parentId: 'root',
    from: 1890,
    to: 1891,
    message: 'customer_id cannot be None',
    inputPreview: 'customer_id=null',
  }),
]

test('a session is shown as people read it', () => {
  expect(renderTextReplay(sessionOf(support))).toBe(`\
Session: s_abc12345 | Duration: 4.2s | Cost: $0.003 | Status: Fail

00:00.000  LLM Call (gpt-4o)
           Input: "I was charged twice..."
           Output: "I'll look into your billing issue..."

00:01.234  Action: classify_intent
           Input: "billing_dispute"
           Output: "billing"

00:01.890  Action: fetch_customer_data
           Input: customer_id=null   ← PROBLEM
           Error: ValueError: customer_id cannot be None

00:01.891  Exception: ValueError
           Session ended: Fail
`)
})

test('with payloads, arguments come from them, one a line where one is marked', () => {
  const replay = renderTextReplay(
    sessionOf(
      [failed({ id: 'refund', kind: 'action', name: 'issue_refund', message: 'invoice not found' })],
      {
        refund: {
          tool: {
            name: 'issue_refund',
            arguments: { amount: 12.5, reason: 'charged\ttwice "again"', customer: { id: null, vip: true } },
          },
        },
      },
    ),
  )

  expect(replay).toBe(`\
Session: s_abc12345 | Duration: 10ms | Cost: none | Status: Fail

00:00.000  Action: issue_refund
           Input: amount=12.5
                  reason="charged twice \\"again\\""
                  customer={"id":null,"vip":true}
                  customer.id=null   ← PROBLEM
           Error: ValueError: invoice not found

00:00.010  Exception: ValueError
           Session ended: Fail
`)
})

test('an argument that is missing is named', () => {
  const replay = renderTextReplay(
    sessionOf([failed({ id: 'a', kind: 'action', message: 'customer_id is required' })], {
      a: { tool: { name: 'fetch', arguments: { limit: 1 } } },
    }),
  )

  expect(replay).toContain(`\
00:00.000  Action: fetch
           Input: limit=1
                  customer_id is missing   ← PROBLEM
`)
})

test('what lies beyond the end of a preview is not said to be missing', () => {
  const replay = renderTextReplay(
    sessionOf([
      failed({
        id: 'a',
        kind: 'action',
        message: 'customer_id is required',
        inputPreview: 'order=null, note=abc…',
      }),
    ]),
  )

  expect(replay).toContain('           Input: order=null, note="abc…"\n           Error:')
})

test('every kind of step has its line', () => {
  const kinds = [
    outline({ id: 'agent', kind: 'agent', agent: 'Triage', from: 0, to: 100 }),
    outline({
      id: 'embedding',
      kind: 'embedding',
      requestedModel: 'embed-1',
      parentId: 'agent',
      from: 1,
      cost: 0,
    }),
    outline({ id: 'search', kind: 'retrieval', parentId: 'agent', from: 2 }),
    outline({ id: 'guard', kind: 'guardrail', parentId: 'agent', from: 3, guardrail: { isTriggered: true } }),
    outline({
      id: 'handoff',
      kind: 'handoff',
      parentId: 'agent',
      from: 4,
      handoff: { from: 'Triage', to: 'Billing' },
    }),
    outline({ id: 'judge', kind: 'evaluator', parentId: 'agent', from: 5 }),
    outline({ id: 'note', kind: 'event', parentId: 'agent', from: 6 }),
    outline({ id: 'GET /', kind: 'other', parentId: 'agent', from: 7 }),
  ]

  expect(
    renderTextReplay(
      sessionOf(kinds, {
        search: { retrieval: { query: 'refund policy', documents: [{ id: '1' }, { id: '2' }] } },
      }),
    ),
  ).toBe(`\
Session: s_abc12345 | Duration: 100ms | Cost: $0 | Status: Success

00:00.000  Agent: Triage

00:00.001  Embedding (embed-1)

00:00.002  Retrieval: search
           Input: "refund policy"
           Output: "2 documents"

00:00.003  Guardrail: guard  triggered

00:00.004  Handoff: Triage → Billing

00:00.005  Evaluator: judge

00:00.006  Event: note

00:00.007  Step: GET /

00:00.100  Session ended: Success
`)
})

test('a session that still runs, and one that was lost, are said to be', () => {
  const open = [
    outline({ id: 'root', kind: 'agent', to: null }),
    outline({ id: 'call', kind: 'llm', name: 'chat', parentId: 'root', from: 5, to: null }),
  ]
  const lost = assembleSession({
    outlines: open,
    nowMs: SESSION_START + LOST_AFTER_MS + 1,
    lastHeardAtMs: SESSION_START,
  })

  expect(renderTextReplay(sessionOf(open))).toBe(`\
Session: s_abc12345 | Duration: 5ms so far | Cost: none | Status: Running

00:00.000  Agent: root  … running

00:00.005  LLM Call (chat)  … running

00:00.005  Session is still running
`)
  expect(renderTextReplay(lost)).toContain('| Status: Lost\n')
  expect(renderTextReplay(lost)).toContain(
    '00:00.005  Session lost: it never ended, and nothing more was heard of it',
  )
})

test('a cost that is not known, or not all of it, is said', () => {
  const unknown = outline({ id: 'a', kind: 'llm', model: 'my-model', usage: { input: 1 } })
  const known = outline({ id: 'b', kind: 'llm', model: 'gpt-4o', usage: { input: 1 }, cost: 1.234 })

  expect(renderTextReplay(sessionOf([unknown]))).toContain('| Cost: unknown (no price for my-model) |')
  expect(renderTextReplay(sessionOf([unknown, known]))).toContain(
    '| Cost: $1.23 + unknown (no price for my-model) |',
  )
})

test('an end that was given is told with its reason, at the end', () => {
  const root = outline({
    id: 'root',
    to: 100,
    session: { endState: 'indeterminate', endStateReason: 'nobody\nchecked' },
  })

  expect(renderTextReplay(sessionOf([root]))).toContain(
    '\n\n00:00.100  Session ended: Indeterminate (nobody checked)\n',
  )
})

test('long texts are cut to one line', () => {
  const call = outline({
    id: 'call',
    kind: 'llm',
    model: 'm',
    inputPreview: 'word\n'.repeat(50),
    cost: 0,
  })
  const replay = renderTextReplay(sessionOf([call], { call: { messages: [] } }), { width: 50 })

  expect(replay).toContain('           Input: "word word word word word word…"\n')
  expect(
    Math.max(
      ...replay
        .split('\n')
        .slice(1)
        .map((line) => line.length),
    ),
  ).toBeLessThanOrEqual(50)
})

test('nothing that was recorded can move the cursor or colour the terminal', () => {
  const evil = '\u001B[31mred\u001B[0m\u0007\u009B2J\u202Egnp'
  const replay = renderTextReplay(
    sessionOf(
      [
        failed({ id: 'tool', kind: 'action', name: evil, message: evil, from: 1 }),
        outline({
          id: 'call',
          kind: 'llm',
          model: evil,
          inputPreview: evil,
          outputPreview: evil,
          usage: { input: 1 },
        }),
      ],
      { tool: { tool: { name: evil, arguments: { [evil]: evil, plain: null } } } },
    ),
  )

  expect(replay).toContain(String.raw`LLM Call (\x1b[31mred\x1b[0m\x07\x9b2J\u202egnp)`)
  expect(replay).toContain(String.raw`"\x1b[31mred\x1b[0m\x07\x9b2J\u202egnp"`)
  expect(/[\p{Cc}\u202E]/u.test(replay.replaceAll('\n', ''))).toBe(false)
})

test('colours appear when they are asked for, and change nothing else', () => {
  const coloured = renderTextReplay(sessionOf(support), { color: true })

  expect(coloured).toContain('\u001B[31mFail\u001B[39m')
  // eslint-disable-next-line no-control-regex
  expect(coloured.replaceAll(/\u001B\[\d+m/g, '')).toBe(renderTextReplay(sessionOf(support)))
})

test('only what failed can be shown', () => {
  expect(renderTextReplay(sessionOf(support), { errorsOnly: true })).toBe(`\
Session: s_abc12345 | Duration: 4.2s | Cost: $0.003 | Status: Fail

00:01.890  Action: fetch_customer_data
           Input: customer_id=null   ← PROBLEM
           Error: ValueError: customer_id cannot be None

00:01.891  Exception: ValueError
           Session ended: Fail
`)
  expect(renderTextReplay(sessionOf([outline({ id: 'a' })]), { errorsOnly: true })).toContain(
    'No step failed.',
  )
})

test('an error that was handled is said to be, and does not end the session', () => {
  const replay = renderTextReplay(
    sessionOf([
      outline({ id: 'root', kind: 'agent', to: 50 }),
      failed({ id: 'tool', kind: 'action', parentId: 'root' }),
    ]),
  )

  expect(replay).toContain('Error: ValueError: tool broke (handled)')
  expect(replay).toContain('00:00.050  Session ended: Success')
})

test('one step can be shown alone, in full', () => {
  const replay = renderTextReplay(
    sessionOf(support, {
      fetch: {
        tool: { name: 'fetch_customer_data', arguments: { customer_id: null, note: 'x'.repeat(200) } },
        error: {
          type: 'ValueError',
          message: 'customer_id cannot be None',
          stack: 'ValueError\n  at fetch.ts:3',
        },
      },
    }),
    { step: 4 },
  )

  expect(replay).toBe(`\
Session: s_abc12345 | Duration: 4.2s | Cost: $0.003 | Status: Fail

00:01.890  Action: fetch_customer_data
           Duration: 1ms
           Input:
             {
               "customer_id": null,
               "note": "${'x'.repeat(200)}"
             }
             note ← from nowhere: no step before had it
           Problem: customer_id=null   ← PROBLEM
           Error: ValueError: customer_id cannot be None
             ValueError
               at fetch.ts:3
`)
  expect(renderTextReplay(sessionOf(support), { step: 9 })).toContain(
    'There is no step 9: the session has 4 steps.',
  )
})

test('the messages of a model call are shown in full when it is shown alone', () => {
  const replay = renderTextReplay(
    sessionOf(
      [outline({ id: 'call', kind: 'llm', model: 'gpt-4o', usage: { input: 12, output: 3 }, cost: 0.00006 })],
      {
        call: {
          messages: [
            { role: 'system', parts: [{ type: 'text', text: 'Be brief.\nBe kind.' }] },
            { role: 'user', parts: [{ type: 'text', text: 'Hi' }] },
            {
              role: 'assistant',
              parts: [{ type: 'tool-call', name: 'greet', arguments: { name: 'Ada' } }],
              isOutput: true,
            },
          ],
        },
      },
    ),
    { step: 1 },
  )

  expect(replay).toContain(`\
00:00.000  LLM Call (gpt-4o)
           Duration: 10ms | Input tokens: 12 | Output tokens: 3 | Cost: $0.00006
           Input (system):
             Be brief.
             Be kind.
           Input (user): Hi
           Output: greet({"name":"Ada"})
`)
})

test('a call that another instrumentation saw too is shown once, and so is one that is counted in another session', () => {
  const call = { kind: 'llm', model: 'gpt-4o', responseId: 'r' } as const
  const twice = renderTextReplay(
    sessionOf([
      outline({ id: 'a', ...call, usage: { input: 1, output: 1 } }),
      outline({ id: 'b', ...call, from: 1, to: 9 }),
    ]),
  )
  const { session, steps } = sessionOf([outline({ id: 'a', ...call })])
  const elsewhere = renderTextReplay({
    session,
    steps: steps.map((step) => ({ ...step, usageScope: 'duplicate' as const })),
  })

  expect([twice.match(/LLM Call/g), elsewhere.match(/LLM Call/g)]).toEqual([['LLM Call'], ['LLM Call']])
})

test('the chunks of a call and the stages of an action are not steps of the story', () => {
  const replay = renderTextReplay(
    sessionOf([
      outline({ id: 'call', kind: 'llm', model: 'm', cost: 0 }),
      outline({ id: 'chunk', kind: 'event', parentId: 'call' }),
      outline({ id: 'tool', kind: 'action', from: 20 }),
      failed({ id: 'blocked', kind: 'event', parentId: 'tool', from: 21 }),
      outline({ id: 'note', kind: 'event', from: 50 }),
    ]),
  )

  expect(replay.match(/Event: .*/g)).toEqual(['Event: blocked', 'Event: note'])
})
