import { expect, test } from 'vitest'
import { find, outlineOf, pick, stepOf, stepsOf } from '../../test/steps-of.ts'

test('flattened messages, images, tools and counts of a chat are rebuilt', () => {
  const { outline, content } = stepsOf('otlp/openinference-js')[0]!

  expect(content.messages).toEqual([
    { role: 'system', parts: [{ type: 'text', text: 'You are terse.' }] },
    {
      role: 'user',
      parts: [
        { type: 'text', text: 'Weather in Paris?' },
        { type: 'media', modality: 'image', mimeType: 'image/png', base64: 'iVBORw0KGgo=' },
      ],
    },
    {
      role: 'assistant',
      parts: [
        { type: 'tool-call', id: 'call_000117fake', name: 'get_weather', arguments: { city: 'Paris' } },
      ],
      isOutput: true,
    },
  ])
  expect(outline).toMatchObject({
    kind: 'llm',
    name: 'gpt-4o-mini',
    model: 'gpt-4o-mini-2024-07-18',
    requestedModel: 'gpt-4o-mini',
    provider: 'openai',
    responseId: 'chatcmpl-c_000118fake',
    usage: { input: 120, output: 35, cacheRead: 64, reasoning: 16, total: 155 },
    session: { threadId: 'sess-42', userId: 'user-7', tags: ['demo', 'oi'], metadata: { plan: 'pro' } },
  })
  expect(content.toolDefinitions).toMatchObject([{ name: 'get_weather', type: 'function' }])
  expect({ ...content.parameters }).toEqual({ temperature: 0.2, max_tokens: 100 })
})

test('a tool call that is in the content and in the list of calls is one call', () => {
  const claude = find(stepsOf('otlp/openinference-js'), 'llm', 'claude-sonnet-4-5')

  expect(claude.content.messages?.at(-1)?.parts).toEqual([
    { type: 'text', text: 'Let me check.' },
    { type: 'tool-call', id: 'toolu_000124fake', name: 'get_weather', arguments: { city: 'Paris' } },
  ])
  expect(claude.outline.usage).toMatchObject({ input: 3520, cacheRead: 1500, cacheWrite: 2000 })
})

test('a call reported by LangChain and by the provider counts once', () => {
  const steps = stepsOf('otlp/openinference-js').filter(
    ({ outline }) => outline.responseId === 'chatcmpl-c_000127fake',
  )

  expect(steps.map((step) => pick(step, 'model', 'requestedModel'))).toEqual([
    { model: 'gpt-4o-mini-2024-07-18', requestedModel: 'gpt-4o-mini' },
    { model: 'gpt-4o-mini-2024-07-18', requestedModel: 'gpt-4o-mini' },
  ])
})

test('a LangGraph tool has its bare argument as text and its result from the tool message', () => {
  const tool = find(stepsOf('otlp/openinference-js'), 'action', 'get_weather')

  expect(tool.content.tool).toEqual({
    name: 'get_weather',
    callId: 'call_000126fake',
    arguments: 'Paris',
    result: { city: 'Paris', temp: 21, sky: 'sunny' },
  })
  expect(tool.outline.inputPreview).toBe('"Paris"')
})

test('a graph is a workflow whose preview is the last message', () => {
  expect(
    pick(
      find(stepsOf('otlp/openinference-js'), 'workflow', 'weather_agent'),
      'inputPreview',
      'outputPreview',
    ),
  ).toEqual({ inputPreview: 'Weather in Paris?', outputPreview: 'It is sunny and 21C in Paris today.' })
})

test('a message of which only the role arrived is none; the input has it', () => {
  const { content } = stepOf({
    attributes: {
      'openinference.span.kind': 'CHAIN',
      'input.value': '{"messages": [{"role": "user", "content": "Weather?"}]}',
      'input.mime_type': 'application/json',
      'llm.input_messages.0.message.role': 'user',
    },
  })

  expect(content.messages).toBeUndefined()
  expect(content.input).toEqual({ messages: [{ role: 'user', content: 'Weather?' }] })
})

test('a status message that contains a stack is split', () => {
  const tool = find(stepsOf('otlp/openinference-js'), 'action', 'bad_tool')

  expect(tool.outline.error).toEqual({ type: 'Error', message: 'tool exploded' })
  expect(tool.content.error?.stack).toContain('at tool.name')
})

test('a stream without usage has none, and vectors of an embedding are dropped', () => {
  const steps = stepsOf('otlp/openinference-js')

  expect(steps[1]!.outline.usage).toBeUndefined()
  expect(find(steps, 'embedding', 'text-embedding-3-small').content).toMatchObject({ input: ['a', 'b'] })
})

test('handoffs, guardrails and agents of OpenAI Agents have their kinds', () => {
  const steps = stepsOf('otlp/openinference-openai-agents')

  expect(outlineOf(steps).slice(0, 5)).toEqual([
    'guardrail no_politics',
    'llm gpt-4o-mini-2024-07-18',
    'handoff Triage agent → Weather agent',
    'workflow turn',
    'agent Triage agent',
  ])
  expect(find(steps, 'guardrail', 'tripwire').outline).toMatchObject({
    status: 'ok',
    guardrail: { name: 'tripwire', isTriggered: true },
  })
  expect(find(steps, 'agent', 'Guarded').outline.error).toEqual({
    type: 'InputGuardrailTripwireTriggered',
    message: 'Input guardrail triggered: {"why":"blocked"}',
  })
  expect(find(steps, 'agent', 'Failing').outline.error).toEqual({
    type: 'Error',
    message: '429 Rate limit reached for fake',
  })
})

test('messages may begin at index 1', () => {
  const { content } = stepOf({
    attributes: {
      'openinference.span.kind': 'LLM',
      'llm.input_messages.2.message.role': 'user',
      'llm.input_messages.2.message.content': 'second',
      'llm.input_messages.1.message.role': 'user',
      'llm.input_messages.1.message.content': 'first',
    },
  })

  expect(content.messages?.map(({ parts }) => parts[0])).toEqual([
    { type: 'text', text: 'first' },
    { type: 'text', text: 'second' },
  ])
})

test('documents of a retriever and of a reranker are kept', () => {
  const retriever = stepOf({
    attributes: {
      'openinference.span.kind': 'RETRIEVER',
      'input.value': 'capital',
      'retrieval.documents.0.document.id': 'a',
      'retrieval.documents.0.document.score': 0.5,
      'retrieval.documents.0.document.content': 'Paris',
      'retrieval.documents.0.document.metadata': '{"page":1}',
    },
  })
  const reranker = stepOf({
    attributes: {
      'openinference.span.kind': 'RERANKER',
      'reranker.query': 'q',
      'reranker.output_documents.0.document.content': 'x',
    },
  })

  expect(retriever.content.retrieval).toEqual({
    query: 'capital',
    documents: [{ id: 'a', score: 0.5, content: 'Paris', metadata: { page: 1 } }],
  })
  expect(reranker.outline.kind).toBe('retrieval')
  expect(reranker.content.retrieval).toEqual({ query: 'q', documents: [{ content: 'x' }] })
})

test('the schema of a tool is not read as its arguments', () => {
  const { content } = stepOf({
    attributes: {
      'openinference.span.kind': 'TOOL',
      'tool.name': 'f',
      'tool.parameters': '{"type":"object","properties":{"a":{"type":"string"}}}',
      'input.value': '{"a":"x"}',
      'input.mime_type': 'application/json',
    },
  })

  expect(content.tool).toEqual({ name: 'f', arguments: { a: 'x' } })
})

test('text that says it is text is not parsed', () => {
  const { content } = stepOf({
    attributes: {
      'openinference.span.kind': 'CHAIN',
      'input.value': '{"a":1}',
      'input.mime_type': 'text/plain',
    },
  })

  expect(content.input).toBe('{"a":1}')
})

test("the Claude agent SDK reports input without cache, and the agent's cost", () => {
  const { outline } = stepOf({
    scope: 'openinference.instrumentation.claude_agent_sdk',
    attributes: {
      'openinference.span.kind': 'AGENT',
      'llm.token_count.prompt': 5000,
      'llm.token_count.completion': 42,
      'llm.token_count.prompt_details.cache_read': 1500,
      'llm.cost.total': 0.01,
    },
  })

  expect(outline).toMatchObject({
    kind: 'agent',
    usage: { input: 6500, cacheRead: 1500 },
    reportedCost: 0.01,
  })
})

test("a client's private method is no model call", () => {
  const attributes = { 'openinference.span.kind': 'LLM', 'llm.model_name': 'gpt-4o-mini' }

  expect(stepOf({ name: 'OpenAI._prepare_chat_with_tools', attributes }).outline.kind).toBe('workflow')
  expect(stepOf({ name: 'OpenAI.achat', attributes }).outline.kind).toBe('llm')
})

test("Haystack's tool calls and results are read from what Python printed", () => {
  const call = `ToolCall(tool_name='look_up', arguments={'id': 7}, id='call_1', extra=None)`
  const printed = (role: string, content: string) =>
    `ChatMessage(_role=<ChatRole.X: '${role}'>, _content=[${content}], _name=None, _meta={})`
  const { content } = stepOf({
    attributes: {
      'openinference.span.kind': 'LLM',
      'llm.input_messages.0.message.role': 'user',
      'llm.input_messages.0.message.content': 'Look.',
      'llm.input_messages.1.message.role': 'assistant',
      'llm.input_messages.2.message.role': 'tool',
      'input.value': JSON.stringify({
        messages: [
          printed('user', `TextContent(text='Look.')`),
          printed('assistant', call),
          printed('tool', `ToolCallResult(result='nothing', origin=${call}, error=False)`),
        ],
      }),
    },
  })

  expect(content.messages).toEqual([
    { role: 'user', parts: [{ type: 'text', text: 'Look.' }] },
    {
      role: 'assistant',
      parts: [{ type: 'tool-call', id: 'call_1', name: 'look_up', arguments: { id: 7 } }],
    },
    { role: 'tool', parts: [{ type: 'tool-result', id: 'call_1', name: 'look_up', result: 'nothing' }] },
  ])
})

test("a tool's result in a message of the user is one", () => {
  const { content } = stepOf({
    attributes: {
      'openinference.span.kind': 'LLM',
      'llm.input_messages.0.message.role': 'user',
      'llm.input_messages.0.message.tool_call_id': 'call_1',
      'llm.input_messages.0.message.content': 'sunny',
    },
  })

  expect(content.messages).toEqual([
    { role: 'tool', parts: [{ type: 'tool-result', id: 'call_1', result: 'sunny' }] },
  ])
})

test('the run of OpenAI Agents is no agent of its own', () => {
  const run = {
    name: 'Agent workflow',
    parentSpanId: null,
    scope: 'openinference.instrumentation.openai_agents',
    attributes: { 'openinference.span.kind': 'AGENT' },
  }

  expect(stepOf(run).outline).toMatchObject({ kind: 'workflow', name: 'Agent workflow' })
  expect(stepOf({ ...run, attributes: { ...run.attributes, 'graph.node.id': 'support' } }).outline.kind).toBe(
    'agent',
  )
})

test('messages of traceAI are flattened below the keys of the standard', () => {
  const { content, outline } = stepOf({
    name: 'ChatCompletion',
    scope: 'traceai_openai',
    attributes: {
      'gen_ai.span.kind': 'LLM',
      'gen_ai.request.parameters': '{"model": "gpt-4o-mini", "stream": true}',
      'input.value': 'You answer questions.',
      'output.value': 'Function: get_weather({"city":"Paris"})',
      'gen_ai.input.messages.0.message.role': 'system',
      'gen_ai.input.messages.0.message.content': 'You answer questions.',
      'gen_ai.input.messages.1.message.role': 'user',
      'gen_ai.input.messages.1.message.content': 'Weather?',
      'gen_ai.output.messages.0.message.role': 'assistant',
      'gen_ai.output.messages.0.message.tool_calls.0.tool_call.id': 'call_1',
      'gen_ai.output.messages.0.message.tool_calls.0.tool_call.function.name': 'get_weather',
      'gen_ai.output.messages.0.message.tool_calls.0.tool_call.function.arguments': '{"city":"Paris"}',
    },
  })

  expect(outline).toMatchObject({
    kind: 'llm',
    model: 'gpt-4o-mini',
    inputPreview: 'Weather?',
    toolRequests: [{ id: 'call_1', name: 'get_weather' }],
  })
  expect(content.messages?.map(({ role }) => role)).toEqual(['system', 'user', 'assistant'])
})
