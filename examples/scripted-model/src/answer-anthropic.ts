import { inPieces, serverSentEvent, type ProviderResponse } from './answer.ts'
import { parseLoosely, type JsonObject } from './json.ts'
import type { PreparedReply } from './prepare-reply.ts'

const SIGNATURE = 'c2NyaXB0ZWQtc2lnbmF0dXJl'

export function answerAnthropic(reply: PreparedReply): ProviderResponse {
  return {
    whole: {
      id: reply.id,
      type: 'message',
      role: 'assistant',
      model: reply.model,
      content: contentBlocks(reply),
      stop_reason: stopReason(reply),
      stop_sequence: null,
      usage: { ...inputUsage(reply), output_tokens: reply.usage.output },
    },
    events: messageEvents(reply),
    eventType: 'text/event-stream',
  }
}

function contentBlocks(reply: PreparedReply): JsonObject[] {
  const blocks: JsonObject[] = []
  if (reply.reasoning !== '')
    blocks.push({ type: 'thinking', thinking: reply.reasoning, signature: SIGNATURE })
  if (reply.redactedReasoning !== undefined)
    blocks.push({ type: 'redacted_thinking', data: reply.redactedReasoning })
  const text = reply.text === '' ? reply.refusal : reply.text
  if (text !== '') blocks.push({ type: 'text', text, citations: null })
  for (const { id, name, arguments: input } of reply.toolCalls)
    blocks.push({ type: 'tool_use', id, name, input: parseLoosely(input) })
  return blocks
}

function stopReason(reply: PreparedReply): string {
  if (reply.finishReason !== undefined) return reply.finishReason
  if (reply.refusal !== '') return 'refusal'
  return reply.finish === 'tool_calls' ? 'tool_use' : 'end_turn'
}

function messageEvents(reply: PreparedReply): string[] {
  const events: string[] = []
  const send = (type: string, data: JsonObject) => events.push(serverSentEvent({ type, ...data }, type))
  send('message_start', {
    message: {
      id: reply.id,
      type: 'message',
      role: 'assistant',
      model: reply.model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { ...inputUsage(reply), output_tokens: 1 },
    },
  })
  for (const [index, block] of contentBlocks(reply).entries()) {
    send('content_block_start', { index, content_block: emptyBlock(block) })
    if (index === 0) send('ping', {})
    for (const delta of deltasOf(block, reply)) send('content_block_delta', { index, delta })
    send('content_block_stop', { index })
  }
  if (reply.streamError !== undefined) {
    const { message, type = 'overloaded_error' } = reply.streamError
    send('error', { error: { type, message } })
    return events
  }
  send('message_delta', {
    delta: { stop_reason: stopReason(reply), stop_sequence: null },
    usage: { output_tokens: reply.usage.output },
  })
  send('message_stop', {})
  return events
}

function emptyBlock(block: JsonObject): JsonObject {
  if (block.type === 'text') return { ...block, text: '' }
  if (block.type === 'thinking') return { ...block, thinking: '', signature: '' }
  return block.type === 'tool_use' ? { ...block, input: {} } : block
}

function deltasOf(block: JsonObject, reply: PreparedReply): JsonObject[] {
  if (block.type === 'text') {
    const pieces = reply.text === '' ? inPieces(reply.refusal) : reply.chunks
    return pieces.map((text) => ({ type: 'text_delta', text }))
  }
  if (block.type === 'thinking') {
    const deltas: JsonObject[] = inPieces(reply.reasoning).map((thinking) => ({
      type: 'thinking_delta',
      thinking,
    }))
    return [...deltas, { type: 'signature_delta', signature: SIGNATURE }]
  }
  if (block.type !== 'tool_use') return []
  const call = reply.toolCalls.find(({ id }) => id === block.id)
  return inPieces(call?.arguments ?? '{}').map((partial_json) => ({ type: 'input_json_delta', partial_json }))
}

/** Anthropic's `input_tokens` excludes cache reads and writes. */
function inputUsage({ usage }: PreparedReply): JsonObject {
  const { cacheRead = 0, cacheWrite5m = 0, cacheWrite1h = 0 } = usage
  const cacheWrite = usage.cacheWrite ?? cacheWrite5m + cacheWrite1h
  return {
    input_tokens: usage.input - cacheRead - cacheWrite,
    cache_read_input_tokens: cacheRead,
    cache_creation_input_tokens: cacheWrite,
    cache_creation: {
      ephemeral_5m_input_tokens: usage.cacheWrite5m ?? cacheWrite - cacheWrite1h,
      ephemeral_1h_input_tokens: cacheWrite1h,
    },
    service_tier: 'standard',
  }
}
