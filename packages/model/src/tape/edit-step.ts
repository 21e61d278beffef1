import { isRecord, textOf, toObjects, type JsonObject } from '../json/attribute-value.ts'
import type { Message, Part } from '../session/message.ts'
import type { Step } from '../session/step.ts'

/** The recorded step of an action as if it had returned this value. */
export function withResult(step: Step, result: unknown): Step {
  const {
    'playhead.action.result': _result,
    'gen_ai.tool.call.result': _toolResult,
    'playhead.action.types': _types,
    'playhead.truncated': _truncated,
    'playhead.truncated.of': _cut,
    ...attributes
  } = step.attributes ?? {}
  const { error: _error, output: _output, streaming: _streaming, tool, ...rest } = step
  const { result: _oldResult, ...toolRest } = tool ?? { name: step.name }
  return {
    ...rest,
    status: 'ok',
    tool: toolRest,
    attributes: {
      ...attributes,
      ...(result !== undefined && { 'playhead.action.result': JSON.stringify(result) }),
    },
  }
}

/**
 * The recorded step of a model call as if the model had answered this: a text, a message in our form, or a response of
 * the provider.
 */
export function withAnswer(step: Step, answer: unknown): Step {
  const { 'playhead.response': _response, ...attributes } = step.attributes ?? {}
  const { error: _error, finishReasons: _reasons, streaming: _streaming, ...rest } = step
  const asked = step.messages?.filter(({ isOutput }) => isOutput !== true) ?? []
  const isResponse = isProviderResponse(answer)
  return {
    ...rest,
    status: 'ok',
    attributes: {
      ...attributes,
      'http.response.status_code': 200,
      ...(isResponse && { 'playhead.response': JSON.stringify(answer) }),
    },
    messages: [...asked, ...(isResponse ? [] : [readAnswer(answer)])],
  }
}

/** Lists that only the responses of OpenAI, Anthropic, Gemini and Ollama have. */
function isProviderResponse(answer: unknown): answer is JsonObject {
  if (!isRecord(answer)) return false
  const { choices, output, candidates, content, message, done } = answer
  if ([choices, output, candidates].some((list) => toObjects(list).length > 0)) return true
  return (toObjects(content).length > 0 && 'stop_reason' in answer) || (isRecord(message) && done === true)
}

function readAnswer(answer: unknown): Message {
  return { role: 'assistant', isOutput: true, parts: readParts(answer) }
}

function readParts(answer: unknown): Part[] {
  if (typeof answer === 'string') return [{ type: 'text', text: answer }]
  if (Array.isArray(answer)) return toObjects(answer) as Part[]
  if (!isRecord(answer)) return [{ type: 'text', text: JSON.stringify(answer) }]
  if (Array.isArray(answer.parts)) return toObjects(answer.parts) as Part[]
  const text = textOf(answer.text) || textOf(answer.content)
  const calls = toObjects(answer.toolCalls).map((call): Part => ({
    type: 'tool-call',
    name: textOf(call.name),
    arguments: call.arguments ?? {},
    ...(typeof call.id === 'string' && { id: call.id }),
  }))
  if (text === '' && calls.length === 0) return [{ type: 'text', text: JSON.stringify(answer) }]
  return [...(text === '' ? [] : [{ type: 'text' as const, text }]), ...calls]
}
