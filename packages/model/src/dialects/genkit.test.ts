import { expect, test } from 'vitest'
import { pick, stepOf } from '../../test/steps-of.ts'

test('subtypes give the kinds, and the usage of a model is in its output', () => {
  const model = stepOf({
    scope: 'genkit-tracer',
    name: 'googleai/gemini-2.5-flash',
    attributes: {
      'genkit:type': 'action',
      'genkit:metadata:subtype': 'model',
      'genkit:name': 'googleai/gemini-2.5-flash',
      'genkit:input': '{"messages":[{"role":"user","content":[{"text":"hi"}]}]}',
      'genkit:output':
        '{"message":{"role":"model","content":[{"text":"hello"}]},"usage":{"inputTokens":42,"outputTokens":17,"totalTokens":59}}',
      'genkit:state': 'success',
      'genkit:sessionId': 's-1',
    },
  })
  const flow = stepOf({
    name: 'menuFlow',
    attributes: {
      'genkit:type': 'action',
      'genkit:metadata:subtype': 'flow',
      'genkit:name': 'menuFlow',
      'genkit:state': 'error',
    },
  })

  expect(model.outline).toMatchObject({
    kind: 'llm',
    model: 'googleai/gemini-2.5-flash',
    provider: 'gcp.gemini',
    dialect: 'genkit',
    usage: { input: 42, output: 17, total: 59 },
    inputPreview: 'hi',
    outputPreview: 'hello',
    session: { threadId: 's-1' },
  })
  expect(pick(flow, 'kind', 'name', 'status')).toEqual({
    kind: 'workflow',
    name: 'menuFlow',
    status: 'error',
  })
})
