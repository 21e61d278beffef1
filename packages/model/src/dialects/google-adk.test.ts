import { expect, test } from 'vitest'
import { stepOf } from '../../test/steps-of.ts'

test('requests and responses are Gemini JSON, thoughts are added to the output', () => {
  const call = stepOf({
    scope: 'gcp.vertex.agent',
    name: 'call_llm',
    attributes: {
      'gen_ai.system': 'gcp.vertex.agent',
      'gen_ai.request.model': 'gemini-2.5-flash',
      'gcp.vertex.agent.session_id': 's-1',
      'gcp.vertex.agent.invocation_id': 'i-1',
      'gcp.vertex.agent.llm_request': JSON.stringify({
        model: 'gemini-2.5-flash',
        config: {
          system_instruction: 'Be nice',
          tools: [{ function_declarations: [{ name: 'get_weather' }] }],
        },
        contents: [
          { role: 'user', parts: [{ text: 'Weather?' }] },
          {
            role: 'model',
            parts: [{ function_call: { id: 'c1', name: 'get_weather', args: { city: 'Paris' } } }],
          },
          {
            role: 'user',
            parts: [{ function_response: { id: 'c1', name: 'get_weather', response: { temp: 21 } } }],
          },
        ],
      }),
      'gcp.vertex.agent.llm_response': JSON.stringify({
        content: { role: 'model', parts: [{ text: 'Sunny' }] },
        usage_metadata: {
          prompt_token_count: 100,
          candidates_token_count: 20,
          thoughts_token_count: 15,
          cached_content_token_count: 40,
          total_token_count: 135,
        },
      }),
      'gen_ai.usage.input_tokens': 100,
      'gen_ai.usage.output_tokens': 20,
    },
  })

  expect(call.outline).toMatchObject({
    kind: 'llm',
    name: 'gemini-2.5-flash',
    dialect: 'google-adk',
    provider: 'gcp.gemini',
    usage: { input: 100, output: 35, cacheRead: 40, reasoning: 15, total: 135 },
    session: { threadId: 's-1' },
    outputPreview: 'Sunny',
  })
  expect(call.content.messages?.map(({ role }) => role)).toEqual([
    'system',
    'user',
    'assistant',
    'tool',
    'assistant',
  ])
  expect(call.content.toolDefinitions).toEqual([{ name: 'get_weather' }])
})

test('placeholders are dropped from a tool', () => {
  const { content, outline } = stepOf({
    scope: 'gcp.vertex.agent',
    name: 'execute_tool get_weather',
    attributes: {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'get_weather',
      'gen_ai.tool.call.id': '<not specified>',
      'gcp.vertex.agent.llm_request': '{}',
      'gcp.vertex.agent.tool_call_args': '{"city":"Paris"}',
      'gcp.vertex.agent.tool_response': '{"result":"<not specified>"}',
    },
  })

  expect(content.tool).toEqual({ name: 'get_weather', arguments: { city: 'Paris' } })
  expect(content.messages).toBeUndefined()
  expect(outline.toolCallId).toBeUndefined()
})

test('the merged results of parallel tools are no action', () => {
  const { outline } = stepOf({
    name: 'execute_tool (merged tools)',
    scope: 'gcp.vertex.agent',
    attributes: { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': '(merged tools)' },
  })

  expect(outline.kind).toBe('other')
})
