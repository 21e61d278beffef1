import { expect, test } from 'vitest'
import { logToDraft } from '../logs/log-to-draft.ts'
import { makeLog, type SpanShape } from '../../../test/make-span.ts'
import { stepOf } from '../../../test/steps-of.ts'

const json = JSON.stringify
const anthropic = {
  role: 'user',
  content: [
    { type: 'tool_result', tool_use_id: 'c1', content: 'sunny' },
    { type: 'text', text: 'And now?' },
  ],
}
const gemini = {
  role: 'user',
  parts: [{ functionResponse: { id: 'c1', response: 'sunny' } }, { text: 'And now?' }],
}
const bedrock = {
  role: 'user',
  content: [{ toolResult: { toolUseId: 'c1', content: [{ text: 'sunny' }] } }, { text: 'And now?' }],
}
const conventions = {
  role: 'user',
  parts: [
    { type: 'tool_call_response', id: 'c1', response: 'sunny' },
    { type: 'text', content: 'And now?' },
  ],
}

test.each<[string, SpanShape]>([
  [
    'the semantic conventions',
    { attributes: { 'gen_ai.operation.name': 'chat', 'gen_ai.input.messages': json([conventions]) } },
  ],
  [
    'OpenInference',
    { attributes: { 'openinference.span.kind': 'LLM', 'input.value': json({ messages: [anthropic] }) } },
  ],
  [
    'OpenInference, flattened',
    {
      attributes: {
        'openinference.span.kind': 'LLM',
        'llm.input_messages.0.message.role': 'user',
        'llm.input_messages.0.message.contents.0.message_content.type': 'tool_result',
        'llm.input_messages.0.message.contents.0.message_content.tool_use_id': 'c1',
        'llm.input_messages.0.message.contents.0.message_content.content': 'sunny',
        'llm.input_messages.0.message.contents.1.message_content.type': 'text',
        'llm.input_messages.0.message.contents.1.message_content.text': 'And now?',
      },
    },
  ],
  [
    'Traceloop',
    {
      attributes: {
        'llm.request.type': 'chat',
        'gen_ai.prompt.0.role': 'user',
        'gen_ai.prompt.0.content': json(anthropic.content),
      },
    },
  ],
  [
    'Langfuse',
    {
      attributes: {
        'langfuse.observation.type': 'generation',
        'langfuse.observation.input': json([anthropic]),
      },
    },
  ],
  [
    'LangSmith',
    { attributes: { 'langsmith.span.kind': 'llm', 'gen_ai.prompt': json({ messages: [anthropic] }) } },
  ],
  [
    'MLflow',
    { attributes: { 'mlflow.spanType': '"LLM"', 'mlflow.spanInputs': json({ messages: [bedrock] }) } },
  ],
  [
    'Google ADK',
    {
      name: 'call_llm',
      scope: 'gcp.vertex.agent',
      attributes: { 'gcp.vertex.agent.llm_request': json({ contents: [gemini] }) },
    },
  ],
  [
    'Genkit',
    { attributes: { 'genkit:metadata:subtype': 'model', 'genkit:input': json({ messages: [bedrock] }) } },
  ],
  [
    'Vercel',
    {
      attributes: { 'ai.operationId': 'ai.generateText.doGenerate', 'ai.prompt.messages': json([anthropic]) },
    },
  ],
  [
    'span events',
    {
      attributes: { 'gen_ai.operation.name': 'chat' },
      events: [{ name: 'gen_ai.user.message', attributes: { content: json(anthropic.content) } }],
    },
  ],
])('a tool result has the role tool, and the text beside it is the user’s: %s', (_name, shape) => {
  expect(stepOf(shape).content.messages).toEqual([
    { role: 'tool', parts: [{ type: 'tool-result', id: 'c1', result: 'sunny' }] },
    { role: 'user', parts: [{ type: 'text', text: 'And now?' }] },
  ])
})

test('a tool result in a log record has the role tool', () => {
  const log = makeLog({ name: 'gen_ai.user.message', body: { content: anthropic.content } })

  expect(logToDraft(log).content.messages?.map(({ role }) => role)).toEqual(['tool', 'user'])
})

test('smolagents’ roles are those of the others', () => {
  const { content } = stepOf({
    attributes: {
      'openinference.span.kind': 'LLM',
      'llm.input_messages.0.message.role': 'tool-call',
      'llm.input_messages.0.message.contents.0.message_content.text': 'Calling tools: look',
      'llm.input_messages.1.message.role': 'tool-response',
      'llm.input_messages.1.message.contents.0.message_content.text': 'sunny',
    },
  })

  expect(content.messages).toEqual([
    { role: 'assistant', parts: [{ type: 'text', text: 'Calling tools: look' }] },
    { role: 'tool', parts: [{ type: 'tool-result', result: 'sunny' }] },
  ])
})
