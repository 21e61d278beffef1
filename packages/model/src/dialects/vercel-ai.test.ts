import { expect, test } from 'vitest'
import { find, outlineOf, pick, stepOf, stepsOf } from '../../test/steps-of.ts'

test('generateText becomes a workflow with an open question, its calls llm steps, its tools actions', () => {
  const steps = stepsOf('otlp/vercel-ai-v5')

  expect(outlineOf(steps).slice(0, 4)).toEqual([
    'llm gpt-4o-mini',
    'action weather',
    'llm gpt-4o-mini',
    'workflow weather-agent',
  ])
  expect(pick(steps[3]!, 'treeQuestion', 'agent', 'dialect', 'inputPreview', 'outputPreview')).toEqual({
    treeQuestion: 'agent-if-tools-below',
    agent: 'weather-agent',
    dialect: 'vercel-ai',
    inputPreview: 'Weather in Paris?',
    outputPreview: 'It is sunny and 21C in Paris today.',
  })
})

test('a call has its model, messages, reply and tool definitions', () => {
  const { outline, content } = stepsOf('otlp/vercel-ai-v5')[0]!

  expect(outline).toMatchObject({
    model: 'gpt-4o-mini-2024-07-18',
    requestedModel: 'gpt-4o-mini',
    provider: 'openai',
    responseId: 'chatcmpl-c_000059fake',
    finishReasons: ['tool_call'],
    inputPreview: 'Weather in Paris?',
    outputPreview: '→ weather(city=Paris)',
    session: { threadId: 'sess-42', userId: 'user-7', tags: ['demo', 'v5'] },
  })
  expect(content.messages).toEqual([
    { role: 'system', parts: [{ type: 'text', text: 'You are terse.' }] },
    { role: 'user', parts: [{ type: 'text', text: 'Weather in Paris?' }] },
    {
      role: 'assistant',
      parts: [{ type: 'tool-call', id: 'call_000058fake', name: 'weather', arguments: { city: 'Paris' } }],
      isOutput: true,
    },
  ])
  expect(content.toolDefinitions).toMatchObject([{ name: 'weather', description: 'Get the weather' }])
  expect({ ...content.parameters }).toMatchObject({ temperature: 0.2, max_tokens: 100 })
  expect(content.input).toBeUndefined()
})

test('a tool call has arguments and result, and owns its failure', () => {
  const steps = stepsOf('otlp/vercel-ai-v5')
  const ok = find(steps, 'action', 'weather', 0)
  const failed = find(steps, 'action', 'weather', 2)

  expect(ok.content.tool).toEqual({
    name: 'weather',
    callId: 'call_000058fake',
    arguments: { city: 'Paris' },
    result: { city: 'Paris', temp: 21, sky: 'sunny' },
  })
  expect(pick(ok, 'inputPreview', 'outputPreview', 'status')).toEqual({
    inputPreview: 'city=Paris',
    outputPreview: '{"city":"Paris","temp":21,"sky":"sunny"}',
    status: 'ok',
  })
  expect(pick(failed, 'status', 'error')).toEqual({
    status: 'error',
    error: { type: 'Error', message: 'weather backend down' },
  })
  expect(failed.content.error?.stack).toContain('at Object.execute')
})

test('version 5 reports Anthropic without its cache, which is added from the provider metadata', () => {
  const claude = find(stepsOf('otlp/vercel-ai-v5'), 'llm', 'claude-sonnet-4-5')

  expect(claude.outline.usage).toEqual({
    input: 3520,
    output: 42,
    cacheRead: 1500,
    cacheWrite: 2000,
    cacheWrite5m: 2000,
    cacheWrite1h: 0,
    total: 3562,
  })
})

test("version 5 adds Anthropic's cache to the input even when it is smaller", () => {
  const { outline } = stepOf({
    scope: 'ai',
    attributes: {
      'ai.operationId': 'ai.generateText.doGenerate',
      'ai.model.provider': 'anthropic.messages',
      'ai.model.id': 'claude-sonnet-4-5',
      'ai.usage.promptTokens': 5000,
      'ai.usage.completionTokens': 10,
      'ai.response.providerMetadata':
        '{"anthropic":{"cacheCreationInputTokens":200,"cacheReadInputTokens":300}}',
    },
  })

  expect(outline.usage).toEqual({ input: 5500, output: 10, cacheRead: 300, cacheWrite: 200, total: 5510 })
})

test('version 6 counts the cache inside the input', () => {
  const { outline } = stepOf({
    scope: 'ai',
    attributes: {
      'ai.operationId': 'ai.generateText.doGenerate',
      'ai.model.provider': 'anthropic.messages',
      'ai.usage.inputTokens': 5500,
      'ai.usage.outputTokens': 10,
      'ai.usage.inputTokenDetails.noCacheTokens': 5000,
      'ai.usage.inputTokenDetails.cacheReadTokens': 300,
      'ai.usage.inputTokenDetails.cacheWriteTokens': 200,
    },
  })

  expect(outline.usage).toMatchObject({ input: 5500, cacheRead: 300, cacheWrite: 200 })
})

test('version 4 streams report NaN, which is no usage at all', () => {
  const { outline } = stepOf({
    scope: 'ai',
    attributes: {
      'ai.operationId': 'ai.streamText.doStream',
      'ai.model.id': 'gpt-4o-mini',
      'ai.usage.promptTokens': null,
      'ai.usage.completionTokens': null,
    },
  })

  expect(outline.usage).toBeUndefined()
})

test('version 4 writes the arguments of a call as args and results as result', () => {
  const { content } = stepOf({
    attributes: {
      'ai.operationId': 'ai.generateText.doGenerate',
      'ai.prompt.messages': JSON.stringify([
        { role: 'user', content: [{ type: 'text', text: 'go' }] },
        {
          role: 'assistant',
          content: [{ type: 'tool-call', toolCallId: 'c1', toolName: 'f', args: { a: 1 } }],
        },
        {
          role: 'tool',
          content: [{ type: 'tool-result', toolCallId: 'c1', toolName: 'f', result: { b: 2 } }],
        },
      ]),
      'ai.result.text': 'done',
    },
  })

  expect(content.messages?.slice(1)).toEqual([
    { role: 'assistant', parts: [{ type: 'tool-call', id: 'c1', name: 'f', arguments: { a: 1 } }] },
    { role: 'tool', parts: [{ type: 'tool-result', id: 'c1', name: 'f', result: { b: 2 } }] },
    { role: 'assistant', parts: [{ type: 'text', text: 'done' }], isOutput: true },
  ])
})

test('streams have the time of their first token', () => {
  const stream = stepsOf('otlp/vercel-ai-v5').find(({ outline }) => outline.firstTokenMs !== undefined)

  expect(stream?.outline.firstTokenMs).toBeCloseTo(45.35, 1)
})

test('an embedding keeps its text and drops its vector', () => {
  const embedding = find(stepsOf('otlp/vercel-ai-v5'), 'embedding', 'text-embedding-3-small')

  expect(embedding.content.input).toBe('hello')
  expect(embedding.content.output).toBeUndefined()
  expect(embedding.outline.usage).toEqual({ input: 8, total: 8 })
})

test('a retried call is one failed step for each attempt', () => {
  const failed = stepsOf('otlp/vercel-ai-v5').filter(
    ({ outline }) => outline.kind === 'llm' && outline.status === 'error',
  )

  expect(failed.map(({ outline }) => outline.error)).toEqual([
    { type: 'AI_APICallError', message: 'Rate limit reached for fake' },
    { type: 'AI_APICallError', message: 'Rate limit reached for fake' },
  ])
})

test('version 7 with legacy telemetry has the session in its runtime context', () => {
  const steps = stepsOf('otlp/vercel-ai-v7legacy')

  expect(steps[0]!.outline.session).toEqual({ threadId: 'sess-42', userId: 'user-7' })
})

test('version 7 is plain OTel GenAI: agent, steps, chats and tools', () => {
  const steps = stepsOf('otlp/vercel-ai-v7')

  expect(outlineOf(steps).slice(0, 6)).toEqual([
    'llm gpt-4o-mini',
    'action weather',
    'workflow step 1',
    'llm gpt-4o-mini',
    'workflow step 2',
    'agent weather-agent',
  ])
  expect(find(steps, 'agent', 'weather-agent').outline.outputPreview).toBe(
    'It is sunny and 21C in Paris today.',
  )
  expect(find(steps, 'agent', 'rate-limited').outline.error).toEqual({
    type: 'AI_RetryError',
    message: 'Failed after 2 attempts. Last error: AI_APICallError: Rate limit reached for fake',
  })
})

test('spans that OpenInference rewrote in place keep the kind it gave them', () => {
  const { outline } = stepOf({
    attributes: { 'ai.operationId': 'ai.generateText', 'openinference.span.kind': 'AGENT' },
  })

  expect(pick({ outline, content: { attributes: {} } }, 'kind', 'treeQuestion')).toEqual({
    kind: 'agent',
    treeQuestion: undefined,
  })
})
