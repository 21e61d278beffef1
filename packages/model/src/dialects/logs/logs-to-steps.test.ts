import { expect, test } from 'vitest'
import { loadLogs } from '../../../test/load-fixture.ts'
import { makeLog } from '../../../test/make-span.ts'
import { outlineOf } from '../../../test/steps-of.ts'
import type { LogRecord } from '../../otlp/span.ts'
import { logToDraft } from './log-to-draft.ts'
import { logsToSteps } from './logs-to-steps.ts'

/** The records as they are sent when traces are off. */
function withoutTraces(): LogRecord[] {
  return loadLogs('otlp/claude-code-2.1')
    .filter((log) => log.attributes['prompt.id'] !== undefined)
    .map((log) => ({ ...log, traceId: '', spanId: null }))
}

test('a prompt and its records become a session with steps', () => {
  const steps = logsToSteps(withoutTraces().map(logToDraft).toReversed())

  expect(outlineOf(steps)).toEqual([
    'agent claude-code',
    'event tool_decision',
    'llm claude-sonnet-4-5',
    'action Bash',
    'llm claude-sonnet-4-5',
  ])
  const [agent, ...others] = steps.map(({ outline }) => outline)
  expect(new Set(others.map(({ parentId }) => parentId))).toEqual(new Set([agent!.id]))
  expect(new Set(steps.map(({ outline }) => outline.id)).size).toBe(5)
  expect(agent).toMatchObject({
    sessionId: 'b477f37c6cbd4305a7e6ed6f0628d789',
    parentId: null,
    inputPreview: 'Use Bash to print the weather',
    outputPreview: 'It is sunny and 21C in Paris today.',
    session: { threadId: '14f4bc8b-4b53-43e9-9295-5ca9503a6d15' },
  })
})

test('a request has its duration, tokens, cost and reply', () => {
  const call = logsToSteps(withoutTraces().map(logToDraft))[2]!

  expect(call.outline).toMatchObject({
    usage: { input: 3520, output: 42, cacheRead: 1500, cacheWrite: 2000 },
    reportedCost: 0.00864,
    outputPreview: 'Let me check.',
    firstTokenMs: 17,
    provider: 'anthropic',
  })
  expect(call.outline.endedAtMs! - call.outline.startedAtMs).toBe(107)
  expect(call.content.messages).toEqual([
    { role: 'assistant', parts: [{ type: 'text', text: 'Let me check. ' }], isOutput: true },
  ])
})

test('a tool has its arguments, and a failed request is a failed call', () => {
  const scope = 'com.anthropic.claude_code.events'
  const attributes = {
    'event.name': 'api_error',
    'prompt.id': 'b477f37c-6cbd-4305-a7e6-ed6f0628d789',
    error: 'Overloaded',
  }
  const steps = logsToSteps([
    ...withoutTraces().map(logToDraft),
    logToDraft(makeLog({ traceId: '', spanId: null, scope, attributes, timeNs: 1_794_736_400_000_000_000n })),
  ])

  expect(steps[3]!.content.tool).toEqual({
    name: 'Bash',
    callId: 'toolu_000001fake',
    arguments: { command: 'echo sunny', description: 'Print weather' },
  })
  expect(steps.at(-1)!.outline).toMatchObject({
    kind: 'llm',
    status: 'error',
    error: { type: 'ApiError', message: 'Overloaded' },
  })
})

test("records of a program's own affairs make no session", () => {
  expect(logsToSteps(loadLogs('otlp/claude-code-2.1').slice(0, 4).map(logToDraft))).toEqual([])
})
