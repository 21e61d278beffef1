import { expect, test } from 'vitest'
import { find, outlineOf, pick, stepOf, stepsOf } from '../../test/steps-of.ts'

test('an interaction is an agent with its requests, its tools and what happened inside a tool', () => {
  expect(outlineOf(stepsOf('otlp/claude-code-2.1'))).toEqual([
    'event tool.blocked_on_user',
    'llm claude-sonnet-4-5',
    'event tool.execution',
    'action Bash',
    'llm claude-sonnet-4-5',
    'agent claude-code',
  ])
})

test('tokens are reported without the cache, whatever its size', () => {
  const steps = stepsOf('otlp/claude-code-2.1')
  const large = stepOf({
    scope: 'com.anthropic.claude_code.tracing',
    name: 'claude_code.llm_request',
    attributes: {
      'span.type': 'llm_request',
      input_tokens: 9000,
      output_tokens: 1,
      cache_read_tokens: 100,
      model: 'claude-x',
    },
  })

  expect(
    pick(find(steps, 'llm', 'claude-sonnet-4-5'), 'usage', 'finishReasons', 'firstTokenMs', 'attempt'),
  ).toEqual({
    usage: { input: 3520, output: 42, cacheRead: 1500, cacheWrite: 2000, total: 3562 },
    finishReasons: ['tool_call'],
    firstTokenMs: 17,
    attempt: 1,
  })
  expect(large.outline).toMatchObject({ usage: { input: 9100 }, model: 'claude-x', provider: 'anthropic' })
})

test('a tool has the command as input and its printed text as output', () => {
  expect(find(stepsOf('otlp/claude-code-2.1'), 'action', 'Bash').content.tool).toEqual({
    name: 'Bash',
    callId: 'toolu_000001fake',
    arguments: 'echo sunny',
    result: 'sunny',
  })
})

test('a failed tool is an error', () => {
  const { outline } = stepOf({
    scope: 'com.anthropic.claude_code.tracing',
    name: 'claude_code.llm_request',
    attributes: { 'span.type': 'llm_request', success: false, error: 'overloaded_error', model: 'claude-x' },
  })

  expect(pick({ outline, content: { attributes: {} } }, 'status', 'error')).toEqual({
    status: 'error',
    error: { type: 'Error', message: 'overloaded_error' },
  })
})

test("the prompt is the agent's input", () => {
  expect(find(stepsOf('otlp/claude-code-2.1'), 'agent', 'claude-code').outline).toMatchObject({
    inputPreview: 'Use Bash to print the weather',
    session: { threadId: '14f4bc8b-4b53-43e9-9295-5ca9503a6d15' },
  })
})
