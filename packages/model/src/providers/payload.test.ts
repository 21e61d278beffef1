import { expect, test } from 'vitest'
import { stepOf } from '../../test/steps-of.ts'

test('OpenAI responses, Anthropic and Bedrock shapes of raw output are understood', () => {
  const responses = stepOf({
    attributes: {
      'openinference.span.kind': 'LLM',
      'input.value': '{"model":"gpt-4o","instructions":"Be nice","input":"hi"}',
      'output.value':
        '{"id":"resp_1","model":"gpt-4o-2024","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"hello"}]}],"usage":{"input_tokens":120,"output_tokens":35,"input_tokens_details":{"cached_tokens":64}}}',
    },
  })
  const anthropic = stepOf({
    attributes: {
      'openinference.span.kind': 'LLM',
      'llm.provider': 'anthropic',
      'output.value':
        '{"id":"msg_1","role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"hello"}],"stop_reason":"end_turn","usage":{"input_tokens":5000,"output_tokens":42,"cache_read_input_tokens":1500}}',
    },
  })
  const bedrock = stepOf({
    attributes: {
      'openinference.span.kind': 'LLM',
      'output.value': '{"output":{"message":{"role":"assistant","content":[{"text":"hello"}]}}}',
    },
  })

  expect(responses.outline).toMatchObject({
    responseId: 'resp_1',
    model: 'gpt-4o-2024',
    usage: { input: 120, output: 35, cacheRead: 64 },
    inputPreview: 'hi',
    outputPreview: 'hello',
  })
  expect(anthropic.outline).toMatchObject({
    usage: { input: 6500, cacheRead: 1500 },
    finishReasons: ['stop'],
  })
  expect(anthropic.content.messages?.[0]?.parts[0]).toEqual({ type: 'reasoning', text: 'hm', signature: 's' })
  expect(bedrock.outline.outputPreview).toBe('hello')
})
