import type { ProviderResponse } from './answer.ts'
import { parseLoosely, type JsonObject } from './json.ts'
import type { PreparedReply } from './prepare-reply.ts'

export function answerOllama(reply: PreparedReply): ProviderResponse {
  const part = (message: JsonObject): JsonObject => ({
    model: reply.model,
    created_at: '2026-01-01T00:00:00Z',
    message: { role: 'assistant', ...message },
    done: false,
  })
  const end = {
    done: true,
    done_reason: 'stop',
    total_duration: 1_000_000,
    prompt_eval_count: reply.usage.input,
    eval_count: reply.usage.output,
  }
  const calls = reply.toolCalls.map(({ name, arguments: text }) => ({
    function: { name, arguments: parseLoosely(text) },
  }))
  const thinking = reply.reasoning === '' ? {} : { thinking: reply.reasoning }
  const message = { content: reply.text, ...thinking, ...(calls.length > 0 && { tool_calls: calls }) }
  const parts = reply.chunks.map((content) => part({ content }))
  if (reply.reasoning !== '') parts.unshift(part({ content: '', ...thinking }))
  if (calls.length > 0) parts.push(part({ content: '', tool_calls: calls }))
  parts.push({ ...part({ content: '' }), ...end })
  return {
    whole: { ...part(message), ...end },
    events: parts.map((item) => `${JSON.stringify(item)}\n`),
    eventType: 'application/x-ndjson',
  }
}
