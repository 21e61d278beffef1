import { expect, test } from 'vitest'
import { stepOf } from '../../test/steps-of.ts'

test('every value is JSON, texts in quotes', () => {
  const call = stepOf({
    scope: 'mlflow.openai',
    name: 'Completions',
    attributes: {
      'mlflow.spanType': '"CHAT_MODEL"',
      'mlflow.spanInputs': '{"model":"gpt-4o","messages":[{"role":"user","content":"hi"}]}',
      'mlflow.spanOutputs':
        '{"id":"chatcmpl-1","choices":[{"message":{"role":"assistant","content":"hello"}}]}',
      'mlflow.chat.tokenUsage':
        '{"input_tokens":120,"output_tokens":35,"total_tokens":155,"cache_read_input_tokens":64}',
      'mlflow.llm.model': '"gpt-4o"',
      'mlflow.llm.provider': '"openai"',
      'mlflow.llm.cost': '{"input_cost":0.001,"output_cost":0.002,"total_cost":0.003}',
    },
  })
  const tool = stepOf({
    name: 'get_weather',
    attributes: {
      'mlflow.spanType': '"TOOL"',
      'mlflow.spanInputs': '{"city":"Paris"}',
      'mlflow.spanOutputs': '"Sunny"',
    },
  })

  expect(call.outline).toMatchObject({
    kind: 'llm',
    name: 'gpt-4o',
    model: 'gpt-4o',
    provider: 'openai',
    dialect: 'mlflow',
    responseId: 'chatcmpl-1',
    usage: { input: 120, output: 35, cacheRead: 64 },
    reportedCost: 0.003,
    inputPreview: 'hi',
    outputPreview: 'hello',
  })
  expect(tool.outline).toMatchObject({
    kind: 'action',
    name: 'get_weather',
    inputPreview: 'city=Paris',
    outputPreview: 'Sunny',
  })
})
