import { expect, test } from 'vitest'
import { pick, stepOf } from '../../test/steps-of.ts'

test('OpenRouter: prompt and completion in one attribute each, with the cost', () => {
  const { outline } = stepOf({
    name: 'LLM Generation',
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.system': 'openrouter',
      'gen_ai.request.model': 'anthropic/claude-sonnet-4.5',
      'gen_ai.prompt': '{"messages":[{"role":"user","content":"hi"}]}',
      'gen_ai.completion': '{"completion":"hello"}',
      'gen_ai.usage.input_tokens': 10,
      'gen_ai.usage.output_tokens': 3,
      'gen_ai.usage.cost': 0.001,
    },
  })

  expect(outline).toMatchObject({
    reportedCost: 0.001,
    provider: 'openrouter',
    inputPreview: 'hi',
    outputPreview: 'hello',
  })
})

test('a sender that nobody knows is read by what its attributes look like', () => {
  const call = stepOf({
    name: 'my call',
    attributes: {
      'acme.llm.model': 'acme-1',
      'acme.usage.input_tokens': '12',
      'acme.usage.output_tokens': 3,
      'acme.session_id': 's-1',
    },
  })
  const tool = stepOf({
    name: 'lookup',
    attributes: { 'acme.span.kind': 'TOOL', input: '{"a":1}', output: 'x' },
  })
  const http = stepOf({
    name: 'GET /',
    attributes: { 'http.request.method': 'GET', model: 'T-1000', 'thread.id': 7, type: 'agent' },
  })

  expect(call.outline).toMatchObject({
    kind: 'llm',
    name: 'acme-1',
    model: 'acme-1',
    usage: { input: 12, output: 3, total: 15 },
    dialect: 'generic',
    session: { threadId: 's-1' },
  })
  expect(tool.outline).toMatchObject({
    kind: 'action',
    name: 'lookup',
    inputPreview: 'a=1',
    outputPreview: 'x',
  })
  expect(pick(http, 'kind', 'name', 'model', 'session')).toEqual({
    kind: 'other',
    name: 'GET /',
    model: undefined,
    session: undefined,
  })
})
