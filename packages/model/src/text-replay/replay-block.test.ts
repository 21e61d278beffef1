import { expect, test } from 'vitest'
import { failed, outline } from '../../test/outline.ts'
import { sessionOf, support } from '../../test/session-of.ts'
import type { Message } from '../session/message.ts'
import { renderTextReplay } from './text-replay.ts'

test('with payloads, arguments are shown one per line where one is marked', () => {
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

00:00.000  Action: issue_refund  #1
           Input: amount=12.5
                  reason="charged twice \\"again\\""
                  customer={"id":null,"vip":true}
                  customer.id=null   ← PROBLEM
           Error: ValueError: invoice not found

00:00.010  Exception: ValueError
           Session ended: Fail
`)
})

test('a missing argument is named', () => {
  const replay = renderTextReplay(
    sessionOf([failed({ id: 'a', kind: 'action', message: 'customer_id is required' })], {
      a: { tool: { name: 'fetch', arguments: { limit: 1 } } },
    }),
  )

  expect(replay).toContain(`\
00:00.000  Action: fetch  #1
           Input: limit=1
                  customer_id is missing   ← PROBLEM
`)
})

test('arguments beyond the end of a preview are not reported as missing', () => {
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

00:00.000  Agent: Triage  #1

00:00.001    Embedding (embed-1)  #2
             Cost: $0

00:00.002    Retrieval: search  #3
             Input: "refund policy"
             Output: "2 documents"

00:00.003    Guardrail: guard  #4  triggered

00:00.004    Handoff: Triage → Billing  #5

00:00.005    Evaluator: judge  #6

00:00.006    Event: note  #7

00:00.007    Step: GET /  #8

00:00.100  Session ended: Success
`)
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

test('recorded text cannot move the cursor or colour the terminal', () => {
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

00:01.890  Action: fetch_customer_data  #4
           Duration: 1ms
           Input:
             {
               "customer_id": null,
               "note": "${'x'.repeat(200)}"
             }
             note ← not in any earlier step
           Problem: customer_id=null   ← PROBLEM
           Error: ValueError: customer_id cannot be None
             ValueError
               at fetch.ts:3
`)
  expect(renderTextReplay(sessionOf(support), { step: 9 })).toContain(
    'There is no step 9: the session has 4 steps.',
  )
})

test('a model call shown alone has its full messages', () => {
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
00:00.000  LLM Call (gpt-4o)  #1
           Duration: 10ms | Tokens: 12 in, 3 out | Cost: $0.00006
           Input (system):
             Be brief.
             Be kind.
           Input (user): Hi
           Output: greet({"name":"Ada"})
`)
})

test('a turn has its text and its tool calls, its tokens with the cached ones, and the time to its first token', () => {
  const turn = outline({
    id: 'call',
    kind: 'llm',
    model: 'gpt-4o',
    usage: { input: 12_400, cacheRead: 11_000, output: 320, reasoning: 64 },
    cost: 0.0123,
    firstTokenMs: 350,
    outputPreview: 'Let me look that up.',
  })
  const messages: Message[] = [
    { role: 'user', parts: [{ type: 'text', text: 'Refund me' }] },
    {
      role: 'assistant',
      isOutput: true,
      parts: [
        { type: 'text', text: 'Let me look that up.' },
        { type: 'tool-call', name: 'find_customer', arguments: { email: 'ada@example.com', limit: 1 } },
        { type: 'tool-call', name: 'list_orders', arguments: undefined },
      ],
    },
  ]

  expect(renderTextReplay(sessionOf([turn], { call: { messages } }))).toContain(`\
00:00.000  LLM Call (gpt-4o)  #1
           Input: "Refund me"
           Output: "Let me look that up."
                   → find_customer(email="ada@example.com", limit=1)
                   → list_orders()
           Tokens: 12,400 in (11,000 cached), 320 out (64 reasoning) | First token: 350ms | Cost: $0.012
`)
})

test('the causes of an error are told, in short and in full', () => {
  const step = failed({
    id: 'save',
    kind: 'action',
    error: {
      type: 'SaveError',
      message: 'could not save',
      cause: {
        type: 'HttpError',
        message: '503 from the store',
        cause: { type: 'Error', message: 'ECONNREFUSED\n127.0.0.1:9' },
      },
    },
  })

  expect(renderTextReplay(sessionOf([step]))).toContain(`\
           Error: SaveError: could not save
           Caused by: HttpError: 503 from the store
           Caused by: ECONNREFUSED 127.0.0.1:9
`)
  expect(renderTextReplay(sessionOf([step]), { step: 1 })).toContain(`\
           Error: SaveError: could not save
           Caused by: HttpError: 503 from the store
           Caused by: ECONNREFUSED
             127.0.0.1:9
`)
})

test('an aborted stream is said to be, with how far it got', () => {
  const call = outline({ id: 'call', kind: 'llm', model: 'm', to: 900, isStreamAborted: true })
  const session = sessionOf([call], {
    call: { messages: [], streaming: { chunks: [[120, 'Dear Ada, I']] } },
  })
  const told = 'Stream aborted after 900ms: 11 characters had arrived, the last at 120ms'

  expect(renderTextReplay(session)).toContain(`\n           ${told}\n`)
  expect(renderTextReplay(session, { step: 1 })).toContain(`\n           ${told}\n`)
})

test('a call without usage is not said to have no price', () => {
  const tokens = { input: 9, output: 1 }
  const silent = outline({ id: 'a', kind: 'llm', model: 'gpt-4o' })
  const priced = outline({ id: 'b', kind: 'llm', model: 'gpt-4o', usage: tokens, cost: 0.5, from: 20 })
  const unpriced = outline({ id: 'c', kind: 'llm', model: 'my-model', usage: tokens, from: 40 })
  const noUsage = 'no usage reported (OpenAI: stream_options.include_usage)'

  expect(renderTextReplay(sessionOf([silent]))).toBe(`\
Session: s_abc12345 | Duration: 10ms | Cost: unknown, ${noUsage} | Status: Success

00:00.000  LLM Call (gpt-4o)  #1
           Tokens: ${noUsage}

00:00.010  Session ended: Success
`)
  expect(renderTextReplay(sessionOf([silent, priced]))).toContain(`| Cost: $0.50 + unknown, ${noUsage} |`)
  expect(renderTextReplay(sessionOf([silent, priced, unpriced]))).toContain(
    `| Cost: $0.50 + unknown (no price for my-model), ${noUsage} |`,
  )
})

test('a call without output tokens has the price of its input, and says so', () => {
  const partial = outline({ id: 'a', kind: 'llm', model: 'gpt-4o', usage: { input: 9 }, cost: 0.5 })

  expect(renderTextReplay(sessionOf([partial]))).toBe(`\
Session: s_abc12345 | Duration: 10ms | Cost: $0.50 + unknown, no output tokens reported | Status: Success

00:00.000  LLM Call (gpt-4o)  #1
           Tokens: 9 in, no output tokens reported | Cost: $0.50

00:00.010  Session ended: Success
`)
})

test('a step that nobody recorded is said to be inferred', () => {
  const replay = renderTextReplay(
    sessionOf([outline({ id: 'lookup', kind: 'action', isInferred: true, inputPreview: 'id=7' })]),
  )

  expect(replay).toContain('00:00.000  Action: lookup  #1  inferred from the conversation\n')
})

test('steps of a re-run say what answered them', () => {
  const replay = renderTextReplay(
    sessionOf(
      (['live', 'stub', 'tape'] as const).map((source) => outline({ id: source, kind: 'action', source })),
    ),
  )

  expect(replay).toContain('00:00.000  Action: live  #1  live\n')
  expect(replay).toContain('00:00.000  Action: stub  #2  stubbed\n')
  expect(replay).toContain('00:00.000  Action: tape  #3  from the tape\n')
})
