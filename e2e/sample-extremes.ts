import { hex, type SpanOptions } from '../packages/server/test/otlp.ts'
import {
  actionSpan,
  agentSpan,
  beginSession,
  called,
  chatSpan,
  returned,
  said,
  type SampleSession,
} from './sample-spans.ts'

/** Hostile text: markup, scripts, escape codes, marks that reverse text. */
export const HOSTILE = [
  '<script>globalThis.pwned=1</script>',
  '<img src=x onerror="globalThis.pwned=1">',
  '"><svg onload=globalThis.pwned=1>',
  '[click](javascript:globalThis.pwned=1)',
  '![p](https://evil.example/p.png)',
  '\u001B[31mred\u001B[0m',
  '\u202Eevil\u202C',
  '{{constructor.constructor("globalThis.pwned=1")()}}',
].join(' ')

export function hostileSession(startMs = Date.now() - 30_000): SampleSession {
  const { traceId, root, at } = beginSession(startMs)
  return {
    traceId,
    resource: { 'service.name': HOSTILE, 'vcs.ref.head.name': HOSTILE },
    spans: [
      agentSpan(
        { traceId, spanId: root, startMs, endMs: startMs + 2000 },
        {
          name: HOSTILE,
          status: { code: 2, message: HOSTILE },
          attributes: {
            'playhead.session.name': HOSTILE,
            'playhead.session.tags': [HOSTILE, 'plain'],
            'playhead.session.end_state': 'Fail',
            'playhead.session.end_state_reason': HOSTILE,
            'session.id': HOSTILE,
            'user.id': HOSTILE,
          },
        },
      ),
      chatSpan(at(10, 500), {
        model: HOSTILE.slice(0, 60),
        system: `${HOSTILE}\n\n# ${HOSTILE}`,
        sent: [said('user', HOSTILE), said('user', `\`\`\`html\n${HOSTILE}\n\`\`\``)],
        answer: [
          said(
            'assistant',
            `**${HOSTILE}**\n\n| a | b |\n|---|---|\n| ${HOSTILE.replaceAll('|', ' ')} | x |`,
          ),
        ],
        input: 5,
        output: 5,
        chunks: [
          [10, HOSTILE],
          [300, HOSTILE],
        ],
        tools: [{ name: HOSTILE, description: HOSTILE, parameters: { [HOSTILE]: HOSTILE } }],
      }),
      actionSpan(at(600, 700), {
        name: HOSTILE,
        given: { [HOSTILE]: null, html: HOSTILE },
        error: { type: HOSTILE, message: HOSTILE, stack: `${HOSTILE}\n    at ${HOSTILE} (/x/y.ts:1:1)` },
      }),
    ],
  }
}

/** A session with a prompt of five megabytes. */
export function heavySession(startMs = Date.now() - 30_000): SampleSession {
  const { traceId, root, at } = beginSession(startMs)
  const line =
    'The quick brown fox jumps over the lazy dog, and the log goes on and on without an end in sight.\n'
  return {
    traceId,
    resource: { 'service.name': 'heavy' },
    spans: [
      agentSpan({ traceId, spanId: root, startMs, endMs: startMs + 3000 }, { name: 'heavy' }),
      chatSpan(at(10, 1500), {
        sent: [said('user', line.repeat(Math.ceil(5_000_000 / line.length)))],
        answer: [said('assistant', 'That is long.')],
        input: 120_000,
        output: 6,
      }),
      actionSpan(at(1600, 1700), {
        name: 'list_rows',
        given: {},
        result: Array.from({ length: 20_000 }, (_, index) => ({
          id: index,
          name: `row ${index}`,
          tags: ['a', 'b'],
        })),
      }),
    ],
  }
}

/** A session of `count` steps: repeated model calls with two tools each, and a failure at 70%. */
export function longSession(count: number, startMs = Date.now() - 4 * 3_600_000): SampleSession {
  const traceId = hex(16)
  const root = hex(8)
  const lengthMs = 40
  const failAt = Math.floor((count * 0.7) / 3) * 3 + 2
  const spans: SpanOptions[] = [
    agentSpan(
      { traceId, spanId: root, startMs, endMs: startMs + count * lengthMs },
      {
        name: 'coder',
        status: { code: 2, message: 'path must be a string' },
        attributes: {
          'playhead.session.name': `A session of ${count.toLocaleString('en-US')} steps`,
          'playhead.session.end_state': 'Fail',
        },
      },
    ),
  ]
  for (let index = 1; index < count; index += 1) {
    const place = {
      traceId,
      parentSpanId: root,
      startMs: startMs + index * lengthMs,
      endMs: startMs + index * lengthMs + 24 + ((index * 7) % 15),
    }
    if (index % 3 === 0)
      spans.push(
        chatSpan(place, {
          sent: [said('user', `What is next after step ${index}?`)],
          answer: [said('assistant', `Next I read file number ${index + 1}.`)],
          input: 900 + (index % 700),
          output: 20 + (index % 30),
        }),
      )
    else if (index === failAt)
      spans.push(
        actionSpan(place, {
          name: 'run_tests',
          given: { path: null },
          error: {
            type: 'TypeError',
            message: 'path must be a string',
            stack: 'TypeError: path must be a string\n    at runTests (/home/ada/coder/src/tools.ts:12:9)',
          },
        }),
      )
    else
      spans.push(
        actionSpan(place, {
          name: index % 3 === 1 ? 'read_file' : 'write_file',
          given: { path: `src/module-${index % 97}/file-${index}.ts` },
          result: `export const value = ${index}`,
          effect: index % 3 === 1 ? 'read' : 'write',
        }),
      )
  }
  return { traceId, spans, resource: { 'service.name': 'coder' } }
}

/**
 * Five tools that fail at the same moment, a tool that nobody recorded, a call without usage, and a stream that was
 * aborted.
 */
export function troubledSession(startMs = Date.now() - 45_000): SampleSession {
  const { traceId, root, at } = beginSession(startMs)
  const question = said('user', 'Which of my five suppliers delivers by Friday?')
  const suppliers = ['acme', 'globex', 'initech', 'umbrella', 'hooli']
  const plan = {
    role: 'assistant',
    parts: [
      { type: 'text', content: 'I will ask all five suppliers at once.' },
      ...suppliers.map((supplier) => ({
        type: 'tool_call',
        id: `call_${supplier}`,
        name: `ask_${supplier}`,
        arguments: { by: 'Friday' },
      })),
    ],
  }
  const lookup = called('call_calendar', 'read_calendar', { week: 47 })
  const free = returned('call_calendar', { friday: 'public holiday' })
  const aborted = chatSpan(at(4200, 5400), {
    sent: [question, plan, lookup, free],
    answer: [said('assistant', 'Friday is a public holiday, so')],
    chunks: [
      [320, 'Friday is a '],
      [410, 'public holiday, so'],
    ],
  })
  delete aborted.attributes!['gen_ai.response.finish_reasons']
  aborted.attributes!['playhead.stream.aborted'] = true
  return {
    traceId,
    resource: { 'service.name': 'purchasing' },
    spans: [
      agentSpan(
        { traceId, spanId: root, startMs, endMs: startMs + 6000 },
        { name: 'purchasing', attributes: { 'playhead.session.end_state': 'Fail' } },
      ),
      chatSpan(at(100, 1300), {
        sent: [question],
        answer: [plan],
        input: 1840,
        output: 96,
        finish: 'tool_calls',
      }),
      ...suppliers.map((supplier, index) =>
        actionSpan(at(1400, 1900 + index * 20), {
          name: `ask_${supplier}`,
          callId: `call_${supplier}`,
          given: { by: 'Friday' },
          error: { type: 'TimeoutError', message: `${supplier} did not answer within 500 ms` },
        }),
      ),
      chatSpan(at(2100, 3300), { sent: [question, plan], answer: [lookup], finish: 'tool_calls' }),
      aborted,
    ],
  }
}
