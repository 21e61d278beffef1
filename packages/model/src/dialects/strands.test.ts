import { expect, test } from 'vitest'
import { stepOf } from '../../test/steps-of.ts'

test('content is in events, the usage of an agent is a rollup, and times are milliseconds', () => {
  const chat = stepOf({
    scope: 'strands.telemetry.tracer',
    name: 'chat',
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.system': 'strands-agents',
      'gen_ai.request.model': 'us.anthropic.claude-sonnet-4-5',
      'gen_ai.usage.prompt_tokens': 4000,
      'gen_ai.usage.input_tokens': 4000,
      'gen_ai.usage.output_tokens': 42,
      'gen_ai.usage.cache_read_input_tokens': 1500,
      'gen_ai.usage.cache_write_input_tokens': 2000,
      'gen_ai.server.time_to_first_token': 350,
    },
    events: [
      { name: 'gen_ai.user.message', attributes: { content: '[{"text":"Weather?"}]' } },
      {
        name: 'gen_ai.choice',
        attributes: {
          message:
            '[{"text":"Let me see"},{"toolUse":{"toolUseId":"t1","name":"get_weather","input":{"city":"Paris"}}}]',
          finish_reason: 'tool_use',
        },
      },
    ],
  })
  const agent = stepOf({
    scope: 'strands.telemetry.tracer',
    name: 'invoke_agent Weather',
    attributes: {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': 'Weather',
      'gen_ai.usage.input_tokens': 9000,
    },
  })

  expect(chat.outline).toMatchObject({
    dialect: 'strands',
    provider: 'aws.bedrock',
    usage: { input: 7500, output: 42, cacheRead: 1500, cacheWrite: 2000 },
    firstTokenMs: 350,
    inputPreview: 'Weather?',
    outputPreview: 'Let me see',
  })
  expect(chat.content.messages?.at(-1)?.parts[1]).toEqual({
    type: 'tool-call',
    id: 't1',
    name: 'get_weather',
    arguments: { city: 'Paris' },
  })
  expect(agent.outline).toMatchObject({ kind: 'agent', isUsageRollup: true })
})

test('arguments and result of a tool are events too', () => {
  const { content, outline } = stepOf({
    scope: 'strands.telemetry.tracer',
    name: 'execute_tool get_weather',
    attributes: {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'get_weather',
      'gen_ai.tool.call.id': 't1',
      'gen_ai.tool.status': 'error',
    },
    events: [
      { name: 'gen_ai.tool.message', attributes: { role: 'tool', content: '{"city":"Paris"}', id: 't1' } },
      { name: 'gen_ai.choice', attributes: { message: '[{"text":"backend down"}]', id: 't1' } },
    ],
  })

  expect(content.tool).toEqual({
    name: 'get_weather',
    callId: 't1',
    arguments: { city: 'Paris' },
    result: 'backend down',
  })
  expect(outline.status).toBe('error')
})
