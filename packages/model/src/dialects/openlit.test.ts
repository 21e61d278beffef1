import { expect, test } from 'vitest'
import { stepOf } from '../../test/steps-of.ts'

test('a tool name on a chat does not make it an action, a cost of 0 is unknown, the system message appears once', () => {
  const { outline, content } = stepOf({
    scope: '@openlit/instrumentation-openai',
    name: 'chat gpt-4o',
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.model': 'gpt-4o',
      'gen_ai.tool.name': 'get_weather',
      'gen_ai.tool.call.id': 'c1',
      'gen_ai.usage.input_tokens': 120,
      'gen_ai.usage.output_tokens': 35,
      'gen_ai.usage.prompt_tokens_details.cache_read': 64,
      'gen_ai.usage.cost': 0,
      'gen_ai.server.time_to_first_token': 0.25,
      'gen_ai.system_instructions': '[{"type":"text","content":"Be nice"}]',
      'gen_ai.input.messages':
        '[{"role":"system","parts":[{"type":"text","content":"Be nice"}]},{"role":"user","parts":[{"type":"text","content":"hi"}]}]',
      'deployment.environment': 'staging',
    },
  })

  expect(outline).toMatchObject({
    kind: 'llm',
    dialect: 'openlit',
    usage: { input: 120, cacheRead: 64 },
    firstTokenMs: 250,
    session: { environment: 'staging' },
  })
  expect(outline.reportedCost).toBeUndefined()
  expect(content.messages?.map(({ role }) => role)).toEqual(['system', 'user'])
})

test('a node inside an agent of LangGraph is no agent', () => {
  const node = (name: string) => {
    const { outline } = stepOf({
      name: `invoke_agent ${name}`,
      scope: 'openlit.instrumentation.langgraph',
      attributes: {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.provider.name': 'langgraph',
        'gen_ai.agent.name': name,
      },
    })
    return outline
  }

  expect(node('model')).toMatchObject({ kind: 'workflow' })
  expect(node('model').agent).toBeUndefined()
  expect(node('researcher')).toMatchObject({ kind: 'agent', agent: 'researcher' })
})
