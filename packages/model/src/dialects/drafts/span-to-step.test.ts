import { describe, expect, test } from 'vitest'
import { loadSpans } from '../../../test/load-fixture.ts'
import { makeSpan } from '../../../test/make-span.ts'
import { spanContent, spanToStep } from './span-to-step.ts'

const folders = [
  'agentops-ts-0.1.0',
  'claude-code-2.1',
  'langfuse-js-v5',
  'mastra-1.71',
  'openinference-js',
  'openinference-openai-agents',
  'otel-instrumentation-openai-js',
  'traceloop-0.27',
  'vercel-ai-v5',
  'vercel-ai-v7',
  'vercel-ai-v7legacy',
]

describe('the content alone is that of the whole step', () => {
  test.each(folders)('of %s', (folder) => {
    const spans = loadSpans(`otlp/${folder}`)

    expect(spans.map(spanContent)).toEqual(spans.map((span) => spanToStep(span).content))
  })

  test.each([
    [
      'a failed tool',
      { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.call.result': '{"error":"no"}' },
    ],
    ['a handoff', { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'transfer_to_billing' }],
    ['an embedding', { 'gen_ai.operation.name': 'embeddings', 'input.value': '["a","b"]' }],
    ['a retrieval', { 'gen_ai.operation.name': 'retrieval', 'gen_ai.retrieval.query.text': 'refunds' }],
  ])('of %s', (_, attributes) => {
    const span = makeSpan({ attributes, statusCode: 2, statusMessage: 'Error: it broke' })

    expect(spanContent(span)).toEqual(spanToStep(span).content)
  })
})
