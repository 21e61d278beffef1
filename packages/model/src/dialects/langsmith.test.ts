import { expect, test } from 'vitest'
import { stepOf } from '../../test/steps-of.ts'

test('its own kind takes precedence over the operation, and a project is not a session', () => {
  const retriever = stepOf({
    scope: 'langsmith',
    attributes: {
      'langsmith.span.kind': 'retriever',
      'gen_ai.operation.name': 'embeddings',
      'gen_ai.prompt': '{"query":"capital"}',
      'gen_ai.completion': '{"documents":[{"pageContent":"Paris","metadata":{"a":1}}]}',
      'langsmith.trace.session_name': 'my-project',
      'langsmith.trace.session_id': 'p-1',
      'langsmith.metadata.thread_id': 't-1',
      'langsmith.span.tags': 'a, b',
    },
  })

  expect(retriever.outline).toMatchObject({
    kind: 'retrieval',
    dialect: 'langsmith',
    session: { threadId: 't-1', tags: ['a', 'b'] },
  })
  expect(retriever.content.retrieval).toEqual({
    query: 'capital',
    documents: [{ content: 'Paris', metadata: { a: 1 } }],
  })
})

test('a call has messages from its inputs, usage from JSON, and no framework as provider', () => {
  const { outline } = stepOf({
    scope: 'langsmith',
    attributes: {
      'langsmith.span.kind': 'llm',
      'gen_ai.system': 'langchain',
      'gen_ai.request.model': 'gpt-4o',
      'gen_ai.prompt': '{"messages":[{"role":"user","content":"hi"}]}',
      'gen_ai.completion':
        '{"choices":[{"message":{"role":"assistant","content":"hello"},"finish_reason":"stop"}]}',
      'langsmith.usage_metadata':
        '{"input_tokens":120,"output_tokens":35,"total_tokens":155,"input_token_details":{"cache_read":64},"output_token_details":{"reasoning":16}}',
    },
  })

  expect(outline).toMatchObject({
    provider: 'openai',
    usage: { input: 120, output: 35, cacheRead: 64, reasoning: 16, total: 155 },
    inputPreview: 'hi',
    outputPreview: 'hello',
    finishReasons: ['stop'],
  })
})

test('status OK with an exception is an error only in LangSmith', () => {
  const events = [{ name: 'exception', attributes: { 'exception.message': 'tool exploded' } }]
  const langSmith = stepOf({
    scope: 'langsmith',
    statusCode: 1,
    attributes: { 'langsmith.span.kind': 'tool' },
    events,
  })
  const other = stepOf({ statusCode: 1, attributes: { 'gen_ai.operation.name': 'chat' }, events })

  expect(langSmith.outline).toMatchObject({
    status: 'error',
    error: { type: 'Error', message: 'tool exploded' },
  })
  expect(other.outline.status).toBe('ok')
})

test.each([
  ['langsmith.metadata.lc_agent_name', 'supervisor'],
  ['metadata', '{"lc_agent_name": "supervisor"}'],
])('a step of LangChain belongs to the agent in %s', (key, value) => {
  const { outline } = stepOf({ attributes: { 'langsmith.span.kind': 'chain', [key]: value } })

  expect(outline.agent).toBe('supervisor')
})
