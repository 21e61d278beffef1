import { emptyAttributes, type AttributeValue, type Attributes, type Scope } from '@playhead/model'

/** What happened, before an instrumentation turns it into spans. */
export type ChatMessage = { role: 'user' | 'assistant' | 'tool'; text: string; toolCallId?: string }
export type ModelCall = {
  agent: string
  model: Model
  system: string
  history: readonly ChatMessage[]
  answer: string
  calledTools: readonly ToolCall[]
  responseId: string
  usage: { input: number; output: number; cacheRead?: number; cacheWrite?: number; reasoning?: number }
}
export type ToolCall = { name: string; callId: string; arguments: string; result: string }
type AgentRun = { agent: string; input: string; output: string }
export type Origin = {
  userId: string
  threadId: string
  tags: readonly string[]
  environment: string
  sessionName: string
}
export type Model = { id: string; provider: string; served: string }

/** A span's name, OTLP kind and attributes. */
export type Worded = { name: string; kind: number; attributes: Attributes }

/** How one instrumentation describes it. */
export type Shape = {
  scope: Scope
  agent: (run: AgentRun, origin: Origin, isRoot: boolean) => Worded
  chat: (call: ModelCall, origin: Origin) => Worded
  tool: (call: ToolCall, origin: Origin, agent: string) => Worded
}

const INTERNAL = 1
const CLIENT = 3

/** OpenTelemetry's conventions for generative AI, as our own SDK writes them. */
export const otelShape: Shape = {
  scope: { name: 'playhead', version: '0.1.0' },
  agent: ({ agent, input, output }, origin, isRoot) => ({
    name: `invoke_agent ${agent}`,
    kind: INTERNAL,
    attributes: attributes({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': agent,
      'gen_ai.conversation.id': origin.threadId,
      'user.id': origin.userId,
      ...(isRoot && {
        'playhead.session.name': origin.sessionName,
        'playhead.session.tags': [...origin.tags],
      }),
      'gen_ai.input.messages': JSON.stringify([otelMessage({ role: 'user', text: input })]),
      'gen_ai.output.messages': JSON.stringify([otelMessage({ role: 'assistant', text: output })]),
    }),
  }),
  chat: (call, origin) => ({
    name: `chat ${call.model.id}`,
    kind: CLIENT,
    attributes: attributes({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': call.model.provider,
      'gen_ai.request.model': call.model.id,
      'gen_ai.response.model': call.model.served,
      'gen_ai.response.id': call.responseId,
      'gen_ai.request.temperature': 0.7,
      'gen_ai.request.max_tokens': 2048,
      'gen_ai.response.finish_reasons': [call.calledTools.length > 0 ? 'tool_call' : 'stop'],
      'gen_ai.usage.input_tokens': call.usage.input,
      'gen_ai.usage.output_tokens': call.usage.output,
      'gen_ai.usage.cache_read.input_tokens': call.usage.cacheRead,
      'gen_ai.usage.cache_creation.input_tokens': call.usage.cacheWrite,
      'gen_ai.usage.reasoning.output_tokens': call.usage.reasoning,
      'gen_ai.agent.name': call.agent,
      'gen_ai.conversation.id': origin.threadId,
      'gen_ai.system_instructions': JSON.stringify([{ type: 'text', content: call.system }]),
      'gen_ai.input.messages': JSON.stringify(call.history.map(otelMessage)),
      'gen_ai.output.messages': JSON.stringify([otelAnswer(call)]),
    }),
  }),
  tool: (call, origin) => ({
    name: `execute_tool ${call.name}`,
    kind: INTERNAL,
    attributes: attributes({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': call.name,
      'gen_ai.tool.type': 'function',
      'gen_ai.tool.call.id': call.callId,
      'gen_ai.tool.call.arguments': call.arguments,
      'gen_ai.tool.call.result': call.result,
      'gen_ai.conversation.id': origin.threadId,
    }),
  }),
}

/** Vercel's AI SDK 5. */
export const vercelShape: Shape = {
  scope: { name: 'ai', version: '5.0.277' },
  agent: ({ agent, input, output }, origin) => ({
    name: 'ai.generateText',
    kind: INTERNAL,
    attributes: attributes({
      ...vercelOrigin('ai.generateText', agent, origin),
      'ai.prompt': JSON.stringify({ prompt: input }),
      'ai.response.text': output,
      'ai.response.finishReason': 'stop',
    }),
  }),
  chat: (call, origin) => ({
    name: 'ai.generateText.doGenerate',
    kind: INTERNAL,
    attributes: attributes({
      ...vercelOrigin('ai.generateText.doGenerate', call.agent, origin),
      'ai.model.provider': `${call.model.provider}.chat`,
      'ai.model.id': call.model.id,
      'ai.settings.maxRetries': 2,
      'ai.prompt.messages': JSON.stringify([
        { role: 'system', content: call.system },
        ...call.history.map(({ role, text }) => ({ role, content: [{ type: 'text', text }] })),
      ]),
      'ai.prompt.toolChoice': '{"type":"auto"}',
      'ai.response.finishReason': call.calledTools.length > 0 ? 'tool-calls' : 'stop',
      'ai.response.text': call.answer,
      'ai.response.toolCalls': JSON.stringify(
        call.calledTools.map((tool) => ({
          toolCallId: tool.callId,
          toolName: tool.name,
          input: tool.arguments,
        })),
      ),
      'ai.response.id': call.responseId,
      'ai.response.model': call.model.served,
      'ai.usage.inputTokens': call.usage.input,
      'ai.usage.outputTokens': call.usage.output,
      'ai.usage.cachedInputTokens': call.usage.cacheRead,
      'gen_ai.system': `${call.model.provider}.chat`,
      'gen_ai.request.model': call.model.id,
      'gen_ai.response.id': call.responseId,
      'gen_ai.response.model': call.model.served,
      'gen_ai.usage.input_tokens': call.usage.input,
      'gen_ai.usage.output_tokens': call.usage.output,
    }),
  }),
  tool: (call, origin, agent) => ({
    name: 'ai.toolCall',
    kind: INTERNAL,
    attributes: attributes({
      ...vercelOrigin('ai.toolCall', agent, origin),
      'ai.toolCall.name': call.name,
      'ai.toolCall.id': call.callId,
      'ai.toolCall.args': call.arguments,
      'ai.toolCall.result': call.result,
    }),
  }),
}

/** Arize's OpenInference, with its flattened messages. */
export const openInferenceShape: Shape = {
  scope: { name: '@arizeai/openinference-instrumentation-openai', version: '4.2.7' },
  agent: ({ agent, input, output }, origin) => ({
    name: agent,
    kind: INTERNAL,
    attributes: attributes({
      ...openInferenceOrigin('AGENT', origin),
      'agent.name': agent,
      'input.value': input,
      'output.value': output,
    }),
  }),
  chat: (call, origin) => ({
    name: 'OpenAI Chat Completions',
    kind: INTERNAL,
    attributes: attributes({
      ...openInferenceOrigin('LLM', origin),
      'llm.system': call.model.provider,
      'llm.model_name': call.model.served,
      'llm.invocation_parameters': JSON.stringify({ model: call.model.id, temperature: 0.2 }),
      'llm.input_messages.0.message.role': 'system',
      'llm.input_messages.0.message.content': call.system,
      ...flattenHistory(call.history),
      'llm.output_messages.0.message.role': 'assistant',
      'llm.output_messages.0.message.content': call.answer,
      ...flattenCalls(call.calledTools),
      'llm.finish_reason': call.calledTools.length > 0 ? 'tool_calls' : 'stop',
      'llm.token_count.prompt': call.usage.input,
      'llm.token_count.completion': call.usage.output,
      'llm.token_count.total': call.usage.input + call.usage.output,
      'llm.token_count.prompt_details.cache_read': call.usage.cacheRead,
      'gen_ai.response.id': call.responseId,
    }),
  }),
  tool: (call, origin) => ({
    name: call.name,
    kind: INTERNAL,
    attributes: attributes({
      ...openInferenceOrigin('TOOL', origin),
      'tool.name': call.name,
      'tool_call.id': call.callId,
      'input.value': call.arguments,
      'input.mime_type': 'application/json',
      'output.value': call.result,
      'output.mime_type': 'application/json',
    }),
  }),
}

function otelMessage({ role, text, toolCallId }: ChatMessage) {
  const part =
    role === 'tool'
      ? { type: 'tool_call_response', id: toolCallId, response: text }
      : { type: 'text', content: text }
  return { role, parts: [part] }
}

function otelAnswer({ answer, calledTools }: ModelCall) {
  return {
    role: 'assistant',
    parts: [
      { type: 'text', content: answer },
      ...calledTools.map((call) => ({
        type: 'tool_call',
        id: call.callId,
        name: call.name,
        arguments: JSON.parse(call.arguments) as unknown,
      })),
    ],
    finish_reason: calledTools.length > 0 ? 'tool_call' : 'stop',
  }
}

function vercelOrigin(operation: string, agent: string, origin: Origin) {
  return {
    'operation.name': `${operation} ${agent}`,
    'resource.name': agent,
    'ai.operationId': operation,
    'ai.telemetry.functionId': agent,
    'ai.telemetry.metadata.sessionId': origin.threadId,
    'ai.telemetry.metadata.userId': origin.userId,
    'ai.telemetry.metadata.tags': [...origin.tags],
  }
}

function openInferenceOrigin(kind: string, origin: Origin) {
  return {
    'openinference.span.kind': kind,
    'session.id': origin.threadId,
    'user.id': origin.userId,
    'tag.tags': JSON.stringify(origin.tags),
  }
}

function flattenHistory(history: readonly ChatMessage[]): Record<string, AttributeValue | undefined> {
  return Object.fromEntries(
    history.flatMap(({ role, text, toolCallId }, index) => {
      const prefix = `llm.input_messages.${index + 1}.message`
      return [
        [`${prefix}.role`, role],
        [`${prefix}.content`, text],
        [`${prefix}.tool_call_id`, toolCallId],
      ]
    }),
  )
}

function flattenCalls(calls: readonly ToolCall[]): Record<string, AttributeValue> {
  return Object.fromEntries(
    calls.flatMap((call, index) => {
      const prefix = `llm.output_messages.0.message.tool_calls.${index}.tool_call`
      return [
        [`${prefix}.id`, call.callId],
        [`${prefix}.function.name`, call.name],
        [`${prefix}.function.arguments`, call.arguments],
      ]
    }),
  )
}

function attributes(entries: Record<string, AttributeValue | undefined>): Attributes {
  const kept = emptyAttributes()
  for (const [key, value] of Object.entries(entries)) if (value !== undefined) kept[key] = value
  return kept
}
