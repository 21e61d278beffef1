import { expect, test } from 'vitest'
import { loadLogs } from '../../../test/load-fixture.ts'
import { makeLog } from '../../../test/make-span.ts'
import { logToDraft, sessionOfLog } from './log-to-draft.ts'

const openAi = () => loadLogs('otlp/otel-instrumentation-openai-js').map(logToDraft)
const claude = () => loadLogs('otlp/claude-code-2.1').map(logToDraft)
const named = (name: string) => claude().filter(({ outline }) => outline.name === name)

test('prompts and replies that arrive as logs add messages to their step', () => {
  const drafts = openAi()

  expect(drafts.map(({ outline }) => outline.name)).toEqual([
    'gen_ai.system.message',
    'gen_ai.user.message',
    'gen_ai.choice',
    'gen_ai.system.message',
    'gen_ai.user.message',
    'gen_ai.assistant.message',
    'gen_ai.tool.message',
    'gen_ai.choice',
    'gen_ai.user.message',
  ])
  expect(drafts.slice(3, 8).flatMap(({ content }) => content.messages)).toEqual([
    { role: 'system', parts: [{ type: 'text', text: 'You are terse.' }] },
    { role: 'user', parts: [{ type: 'text', text: 'Weather in Paris?' }] },
    {
      role: 'assistant',
      parts: [
        { type: 'tool-call', id: 'call_000184fake', name: 'get_weather', arguments: { city: 'Paris' } },
      ],
    },
    { role: 'tool', parts: [{ type: 'tool-result', id: 'call_000184fake', result: { temp: 21 } }] },
    {
      role: 'assistant',
      parts: [{ type: 'text', text: 'It is sunny and 21C in Paris today. ' }],
      finishReason: 'stop',
      isOutput: true,
    },
  ])
})

test('previews of input and reply are available without the content', () => {
  const adds = openAi().map(({ outline }) => outline.adds)

  expect(adds[0]).toEqual({ sequence: 0 })
  expect(adds[1]).toEqual({ sequence: 1, inputPreview: 'Weather in Paris?' })
  expect(adds[2]).toEqual({
    sequence: 4,
    outputPreview: '→ get_weather(city=Paris)',
    toolRequests: [{ id: 'call_000184fake', name: 'get_weather', inputPreview: 'city=Paris' }],
  })
  expect(adds[6]).toEqual({
    sequence: 3,
    inputPreview: '{"temp":21}',
    toolAnswers: [{ id: 'call_000184fake', outputPreview: '{"temp":21}' }],
  })
})

test('operation details carry a whole conversation', () => {
  const { outline, content } = logToDraft(
    makeLog({
      name: 'gen_ai.client.inference.operation.details',
      attributes: {
        'gen_ai.system_instructions': [{ type: 'text', content: 'Be nice' }],
        'gen_ai.input.messages': [{ role: 'user', parts: [{ type: 'text', content: 'hi' }] }],
        'gen_ai.output.messages': '[{"role":"assistant","parts":[{"type":"text","content":"hello"}]}]',
        'gen_ai.request.model': 'gpt-4o',
      },
    }),
  )

  expect(content.messages?.map(({ role, isOutput }) => [role, isOutput])).toEqual([
    ['system', undefined],
    ['user', undefined],
    ['assistant', true],
  ])
  expect(outline.adds).toMatchObject({ inputPreview: 'hi', outputPreview: 'hello', model: 'gpt-4o' })
})

test('an exception record is the error of its step', () => {
  const { outline } = logToDraft(
    makeLog({
      name: 'gen_ai.client.operation.exception',
      attributes: { 'exception.type': 'RateLimitError', 'exception.message': '429' },
    }),
  )

  expect(outline.adds?.error).toEqual({ type: 'RateLimitError', message: '429' })
})

test('Claude Code: request records add usage and cost to the n-th call, reply records add its text', () => {
  expect(named('api_request')[0]!.outline).toMatchObject({
    stepId: 'a8d1efc88db1f034',
    adds: {
      joinTo: { kind: 'llm' },
      sequence: 6,
      model: 'claude-sonnet-4-5',
      usage: {
        input: 3520,
        output: 42,
        cacheRead: 1500,
        cacheWrite: 2000,
        cacheWrite5m: 2000,
        cacheWrite1h: 0,
        total: 3562,
      },
      reportedCost: 0.00864,
    },
  })
  expect(named('assistant_response')[1]!).toMatchObject({
    outline: { adds: { joinTo: { kind: 'llm' }, outputPreview: 'It is sunny and 21C in Paris today.' } },
    content: { messages: [{ role: 'assistant', isOutput: true }] },
  })
})

test('Claude Code: the prompt adds to the interaction itself, a tool result to its call', () => {
  const prompt = named('user_prompt')[0]!
  const result = named('tool_result')[0]!

  expect(prompt.outline.adds).toMatchObject({ inputPreview: 'Use Bash to print the weather', sequence: 4 })
  expect(prompt.outline.adds?.joinTo).toBeUndefined()
  expect(prompt.content.input).toBe('Use Bash to print the weather')
  expect(result.outline.adds).toMatchObject({
    joinTo: { kind: 'action', toolCallId: 'toolu_000001fake' },
    inputPreview: 'command=echo sunny, description=Print weather',
  })
})

test('Claude Code: a failed request is an error of a call', () => {
  const { outline } = logToDraft(
    makeLog({
      scope: 'com.anthropic.claude_code.events',
      body: 'claude_code.api_error',
      attributes: {
        'event.name': 'api_error',
        error: 'Overloaded',
        status_code: '529',
        model: 'claude-x',
        attempt: 3,
      },
    }),
  )

  expect(outline).toMatchObject({
    name: 'api_error',
    adds: { joinTo: { kind: 'llm' }, model: 'claude-x', error: { type: 'HTTP 529', message: 'Overloaded' } },
  })
})

test('other records are plain logs', () => {
  const { outline, content } = logToDraft(makeLog({ severity: 'warn', body: 'disk is full', name: '' }))

  expect(outline).toEqual({
    sessionId: '0af7651916cd43dd8448eb211c80319c',
    stepId: 'b7ad6b7169203331',
    atMs: 1_794_736_302_000,
    severity: 'warn',
    name: '',
  })
  expect(content).toMatchObject({ body: 'disk is full' })
})

test('a record belongs to its trace; one of Claude Code without a trace to its prompt or conversation', () => {
  const scope = 'com.anthropic.claude_code.events'
  const prompt = 'b477f37c-6cbd-4305-a7e6-ed6f0628d789'
  const conversation = '14F4BC8B-4b53-43e9-9295-5ca9503a6d15'

  expect(sessionOfLog(makeLog({}))).toBe('0af7651916cd43dd8448eb211c80319c')
  expect(
    sessionOfLog(
      makeLog({ traceId: '', scope, attributes: { 'prompt.id': prompt, 'session.id': conversation } }),
    ),
  ).toBe('b477f37c6cbd4305a7e6ed6f0628d789')
  expect(sessionOfLog(makeLog({ traceId: '', scope, attributes: { 'session.id': conversation } }))).toBe(
    '14f4bc8b4b5343e992955ca9503a6d15',
  )
  expect(
    sessionOfLog(makeLog({ traceId: '', scope, attributes: { 'session.id': 'no uuid' } })),
  ).toBeUndefined()
  expect(sessionOfLog(makeLog({ traceId: '', attributes: { 'session.id': conversation } }))).toBeUndefined()
})
