import { hex, type SpanOptions } from '../packages/server/test/otlp.ts'
import {
  actionSpan,
  agentSpan,
  beginSession,
  called,
  chatSpan,
  kindSpan,
  returned,
  said,
  streamOf,
  type SampleSession,
} from './sample-spans.ts'

const SYSTEM = `You are the support agent of Acme Subscriptions.

## Rules
- Find out what the customer wants before you act.
- Never promise a refund before \`fetch_customer_data\` has answered.
- Be brief and kind; answer in the language of the customer.

Tools give back JSON. When a tool fails, say so and hand over to a person. Do not invent account numbers, invoice numbers or amounts.`

const TOOLS = ['classify_intent', 'extract_customer_id', 'fetch_customer_data', 'issue_refund'].map(
  (name) => ({
    type: 'function',
    name,
    description: `${name.replaceAll('_', ' ')} of the customer's message`,
    parameters: { type: 'object', properties: { customer_id: { type: 'string' } } },
  }),
)

const STACK = `ValueError: customer_id cannot be null
    at fetchCustomerData (file:///home/ada/support-bot/src/agent.ts:41:11)
    at runSupportAgent (file:///home/ada/support-bot/src/agent.ts:63:26)
    at async recordAction (file:///home/ada/support-bot/node_modules/playhead/dist/record/action.js:88:20)
    at async withSession (file:///home/ada/support-bot/node_modules/playhead/dist/record/session.js:31:5)
    at process.processTicksAndRejections (node:internal/process/task_queues:105:5)
    at async node:internal/modules/run_main:123:5`

/** A session that fails because a customer id got lost four steps earlier. */
export function failingSession(startMs = Date.now() - 60_000): SampleSession {
  const { traceId, root, at } = beginSession(startMs)
  const asked = said('user', 'I was charged twice for my subscription')
  const first = "I'll look into your billing issue right away. Let me find your account first."
  const apology =
    "I'm sorry, I could not find your account from this message. Could you send me the **email address** or the *account number* of your subscription?\n\n1. Open **Settings → Billing**\n2. Copy the account number\n3. Paste it here"
  const answer = {
    role: 'assistant',
    parts: [
      { type: 'text', content: first },
      {
        type: 'tool_call',
        id: 'call_1',
        name: 'classify_intent',
        arguments: { text: 'I was charged twice for my subscription' },
      },
    ],
  }
  const spans = [
    agentSpan(
      { traceId, spanId: root, startMs, endMs: startMs + 4200 },
      {
        name: 'support',
        status: { code: 2, message: 'customer_id cannot be null' },
        attributes: {
          'playhead.session.name': 'I was charged twice for my subscription',
          'playhead.session.tags': ['support', 'v2.1'],
          'playhead.session.end_state': 'Fail',
          'playhead.session.end_state_reason': 'ValueError: customer_id cannot be null',
          'session.id': 'thread-8842',
          'user.id': 'ada@example.org',
          'gen_ai.input.messages': JSON.stringify([asked]),
          'gen_ai.output.messages': JSON.stringify([said('assistant', apology)]),
        },
      },
    ),
    chatSpan(at(0, 1230), {
      system: SYSTEM,
      sent: [asked],
      answer: [answer],
      input: 412,
      output: 38,
      chunks: streamOf(first, 380, 1180),
      tools: TOOLS,
      finish: 'tool_calls',
    }),
    actionSpan(at(1234, 1880), {
      name: 'classify_intent',
      given: { text: 'I was charged twice for my subscription' },
      result: { intent: 'billing', confidence: 0.94 },
      callId: 'call_1',
      effect: 'read',
    }),
    actionSpan(at(1881, 1888), {
      name: 'extract_customer_id',
      given: { text: 'I was charged twice for my subscription' },
      result: { customer_id: null },
      effect: 'read',
    }),
    actionSpan(at(1890, 1891), {
      name: 'fetch_customer_data',
      given: { customer_id: null, include: ['invoices', 'plan'] },
      effect: 'read',
      error: { type: 'ValueError', message: 'customer_id cannot be null', stack: STACK },
    }),
    chatSpan(at(1970, 4070), {
      system: SYSTEM,
      sent: [
        asked,
        answer,
        returned('call_1', { intent: 'billing', confidence: 0.94 }),
        said('user', 'The tool fetch_customer_data failed: customer_id cannot be null. Tell the customer.'),
      ],
      answer: [said('assistant', apology)],
      input: 498,
      output: 61,
      chunks: streamOf(apology, 420, 2050),
      tools: TOOLS,
    }),
    actionSpan(at(4100, 4104), {
      name: 'session_complete',
      given: { intent: 'billing', resolved: false },
      result: { ok: true },
      effect: 'write',
    }),
  ]
  return { traceId, spans, resource: { 'service.name': 'support-bot', 'vcs.ref.head.name': 'main' } }
}

const REPORT = `## Heat pumps in old houses

A heat pump works in most old houses **without** underfloor heating, if three things hold:

1. flow temperature at or below 55 °C
2. radiators that are large enough for it
3. a house that is not *too* leaky

| house | flow | seasonal performance |
|---|---|---|
| 1970, new windows | 50 °C | 3.4 |
| 1930, untouched | 62 °C | 2.4 |

> Measure the flow temperature on the coldest day before you decide.

\`\`\`python
cop = heat_out / power_in
\`\`\``

/** Nested agents, parallel tools, a retry, a handoff, a guardrail, retrieval, and fourteen calls of one tool. */
export function multiAgentSession(startMs = Date.now() - 120_000): SampleSession {
  const traceId = hex(16)
  const [coordinator, researcher, writer] = [hex(8), hex(8), hex(8)]
  const at = (parent: string, fromMs: number, toMs: number) => ({
    traceId,
    parentSpanId: parent,
    startMs: startMs + fromMs,
    endMs: startMs + toMs,
  })
  const question = said(
    'user',
    'Do heat pumps make sense in old houses? Give me a short report with numbers.',
  )
  const plan = called('call_plan', 'delegate', { to: 'researcher', topic: 'heat pumps in old houses' })
  const search = {
    role: 'assistant',
    parts: [
      {
        type: 'reasoning',
        content: 'Field studies are better evidence than vendors. Search both in parallel.',
      },
      {
        type: 'tool_call',
        id: 'call_a',
        name: 'web_search',
        arguments: { query: 'heat pump field study old buildings' },
      },
      {
        type: 'tool_call',
        id: 'call_b',
        name: 'web_search',
        arguments: { query: 'flow temperature radiators retrofit' },
      },
    ],
  }
  const results = [
    returned('call_a', { results: [{ title: 'Fraunhofer WPsmart', spf: 3.1 }] }),
    returned('call_b', { results: [{ title: '55 °C ready', houses: 412 }] }),
  ]
  const spans: SpanOptions[] = [
    agentSpan(
      { traceId, spanId: coordinator, startMs, endMs: startMs + 19_400 },
      {
        name: 'coordinator',
        attributes: {
          'playhead.session.name': 'Report on heat pumps in old houses',
          'playhead.session.tags': ['research', 'nightly', 'multi-agent'],
          'playhead.session.end_state': 'Success',
          'gen_ai.input.messages': JSON.stringify([question]),
          'gen_ai.output.messages': JSON.stringify([said('assistant', REPORT)]),
        },
      },
    ),
    kindSpan(at(coordinator, 5, 60), 'guardrail', 'no personal data', {
      'gen_ai.guardrail.name': 'no personal data',
    }),
    chatSpan(at(coordinator, 70, 1400), {
      sent: [question],
      answer: [plan],
      input: 820,
      output: 44,
      finish: 'tool_calls',
    }),
    agentSpan({ ...at(coordinator, 1450, 12_900), spanId: researcher }, { name: 'researcher' }),
    chatSpan(at(researcher, 1500, 3100), {
      model: 'claude-sonnet-4-5',
      system: 'You research. Cite what you find.',
      sent: [question],
      answer: [search],
      input: 1240,
      output: 96,
      finish: 'tool_calls',
    }),
    actionSpan(at(researcher, 3120, 5200), {
      name: 'web_search',
      given: { query: 'heat pump field study old buildings' },
      result: { results: [{ title: 'Fraunhofer WPsmart', spf: 3.1 }] },
      callId: 'call_a',
      effect: 'read',
    }),
    actionSpan(at(researcher, 3125, 4300), {
      name: 'web_search',
      given: { query: 'flow temperature radiators retrofit' },
      result: { results: [{ title: '55 °C ready', houses: 412 }] },
      callId: 'call_b',
      effect: 'read',
    }),
    kindSpan(at(researcher, 5230, 5600), 'embedding', 'embed passages', {
      'gen_ai.request.model': 'text-embedding-3-small',
      'gen_ai.usage.input_tokens': 310,
    }),
    kindSpan(at(researcher, 5620, 6100), 'retrieval', 'search_passages', {
      'gen_ai.retrieval.query.text': 'seasonal performance factor in unrenovated houses',
      'gen_ai.retrieval.documents': JSON.stringify([
        {
          id: 'wpsmart-12',
          score: 0.91,
          content:
            'Across 29 air source systems the mean seasonal performance factor was 3.1, with a spread from 2.5 to 3.8.',
        },
        {
          id: 'ubn-04',
          score: 0.74,
          content:
            'Houses built before 1979 needed a flow temperature of 46 °C on average on the coldest day.',
        },
        { id: 'forum-88', score: 0.31, content: 'My neighbour says it will never work.' },
      ]),
    }),
    actionSpan(at(researcher, 6150, 6900), {
      name: 'fetch_page',
      given: { url: 'https://example.org/wpsmart.pdf' },
      error: { type: 'TimeoutError', message: 'The operation was aborted due to timeout' },
    }),
    ...Array.from({ length: 14 }, (_, index) =>
      actionSpan(at(researcher, 7000 + index * 260, 7000 + index * 260 + 210), {
        name: 'read_page',
        given: { page: index + 1 },
        result: `Page ${index + 1} of 14: radiators, flow temperatures, insulation.`,
        effect: 'read',
      }),
    ),
    chatSpan(at(researcher, 10_800, 12_850), {
      model: 'claude-sonnet-4-5',
      system: 'You research. Cite what you find.',
      sent: [question, search, ...results],
      answer: [
        said(
          'assistant',
          'Mean SPF is **3.1** [wpsmart-12]; the median flow temperature was 46 °C [ubn-04].',
        ),
      ],
      input: 5210,
      output: 188,
    }),
    kindSpan(at(coordinator, 12_950, 12_990), 'handoff', 'handoff to writer', {
      'playhead.handoff.from': 'researcher',
      'playhead.handoff.to': 'writer',
    }),
    agentSpan({ ...at(coordinator, 13_000, 18_600), spanId: writer }, { name: 'writer' }),
    chatSpan(at(writer, 13_050, 18_500), {
      sent: [question, said('user', 'Mean SPF is 3.1; the median flow temperature was 46 °C.')],
      answer: [said('assistant', REPORT)],
      input: 6120,
      output: 412,
      chunks: streamOf(REPORT, 700, 5380),
    }),
    kindSpan(at(coordinator, 18_700, 19_300), 'evaluator', 'cites sources', {
      'playhead.step.note': 'score 0.8',
    }),
  ]
  return { traceId, spans, resource: { 'service.name': 'research-crew' } }
}

/** A crashed agent: the root span is missing, a step never ended, and the model has no price. */
export function lostSession(startMs = Date.now() - 3_600_000): SampleSession {
  const traceId = hex(16)
  const lost = hex(8)
  const at = (fromMs: number, toMs?: number) => ({
    traceId,
    parentSpanId: lost,
    startMs: startMs + fromMs,
    ...(toMs !== undefined && { endMs: startMs + toMs }),
  })
  return {
    traceId,
    resource: { 'service.name': 'night-batch' },
    spans: [
      chatSpan(at(0, 900), {
        model: 'acme-house-model-7b',
        sent: [said('user', 'Summarise the tickets of last night')],
        answer: [called('call_1', 'list_tickets', { since: '2026-11-14' })],
        input: 300,
        output: 21,
      }),
      actionSpan(at(950, 1400), {
        name: 'list_tickets',
        given: { since: '2026-11-14' },
        result: { count: 318 },
        callId: 'call_1',
      }),
      actionSpan(at(1450), { name: 'read_tickets', given: { count: 318 } }),
    ],
  }
}
