import { expect, test } from 'vitest'
import { stepOf } from '../../test/steps-of.ts'

test('types, inputs, split costs and association properties', () => {
  const { outline } = stepOf({
    name: 'LLM Call 1',
    attributes: {
      'lmnr.span.type': 'LLM',
      'lmnr.span.input': '[{"role":"user","content":"hi"}]',
      'lmnr.span.output': '{"role":"assistant","content":"hello"}',
      'gen_ai.request.model': 'gpt-4o',
      'gen_ai.usage.input_tokens': 10,
      'gen_ai.usage.input_cost': 0.25,
      'gen_ai.usage.output_cost': 0.5,
      'lmnr.association.properties.session_id': 's-1',
    },
  })

  expect(outline).toMatchObject({
    kind: 'llm',
    dialect: 'laminar',
    reportedCost: 0.75,
    session: { threadId: 's-1' },
    inputPreview: 'hi',
    outputPreview: 'hello',
  })
})
