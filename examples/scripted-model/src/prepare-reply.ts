import type { ModelRequest } from './model-request.ts'
import type { FullReply, ReplyUsage } from './reply.ts'

/** A reply with everything that a provider adds: ids, usage, finish reason. */
export type PreparedReply = {
  id: string
  model: string
  text: string
  /** The streamed chunks of the text. */
  chunks: string[]
  reasoning: string
  redactedReasoning?: string
  toolCalls: { id: string; name: string; arguments: string }[]
  refusal: string
  otherChoices: string[]
  finish: 'stop' | 'tool_calls'
  /** Set by the script, in the provider's terms. */
  finishReason?: string
  usage: Usage
  streamError?: { message: string; type?: string }
}

type Usage = ReplyUsage & { input: number; output: number }

const CHARACTERS_PER_TOKEN = 4

export function prepareReply(request: ModelRequest, reply: FullReply, serial: number): PreparedReply {
  const text = reply.text ?? reply.chunks?.join('') ?? ''
  const toolCalls = (reply.toolCalls ?? []).map((call, index) => ({
    id: call.id ?? `call_${serial}_${index}`,
    name: call.name,
    arguments: typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments ?? {}),
  }))
  return {
    id: reply.id ?? `reply-${serial}`,
    model: reply.model ?? request.model,
    text,
    chunks: reply.chunks ?? text.match(/\S+\s*|\s+/g) ?? [],
    reasoning: reply.reasoning ?? '',
    ...(reply.redactedReasoning !== undefined && { redactedReasoning: reply.redactedReasoning }),
    toolCalls,
    refusal: reply.refusal ?? '',
    otherChoices: reply.otherChoices ?? [],
    finish: toolCalls.length > 0 ? 'tool_calls' : 'stop',
    ...(reply.finishReason !== undefined && { finishReason: reply.finishReason }),
    usage: usageOf(request, reply, text),
    ...(reply.streamError !== undefined && { streamError: reply.streamError }),
  }
}

function usageOf(
  request: ModelRequest,
  { usage = {}, toolCalls = [], reasoning = '' }: FullReply,
  text: string,
): Usage {
  const cache = (usage.cacheRead ?? 0) + (usage.cacheWrite ?? 0)
  const asked = request.messages.map((message) => message.text + JSON.stringify(message.toolResults)).join('')
  const answered = text + reasoning + JSON.stringify(toolCalls)
  return {
    ...usage,
    input: usage.input ?? tokensIn(asked) + cache,
    output: usage.output ?? tokensIn(answered) + (usage.reasoning ?? 0),
  }
}

function tokensIn(text: string): number {
  return Math.max(1, Math.ceil(text.length / CHARACTERS_PER_TOKEN))
}
