import { serverSentEvent, type ProviderResponse } from './answer.ts'
import { parseLoosely, type JsonObject } from './json.ts'
import type { PreparedReply } from './prepare-reply.ts'

export function answerGemini(reply: PreparedReply): ProviderResponse {
  const shared = { modelVersion: reply.model, responseId: reply.id }
  const candidate = (parts: JsonObject[], finishReason?: string): JsonObject => ({
    content: { role: 'model', parts },
    index: 0,
    ...(finishReason !== undefined && { finishReason }),
  })
  const thoughts = reply.reasoning === '' ? [] : [{ text: reply.reasoning, thought: true }]
  const calls = reply.toolCalls.map(({ name, arguments: args }) => ({
    functionCall: { name, args: parseLoosely(args) },
  }))
  const finish = reply.finishReason ?? 'STOP'
  const text = reply.text === '' ? [] : [{ text: reply.text }]
  const pieces = [...thoughts, ...reply.chunks.map((chunk) => ({ text: chunk })), ...calls]
  const events: JsonObject[] = pieces.map((part, index) => ({
    candidates: [candidate([part], index === pieces.length - 1 ? finish : undefined)],
    ...(index === pieces.length - 1 && { usageMetadata: geminiUsage(reply) }),
    ...shared,
  }))
  return {
    whole: {
      candidates: [candidate([...thoughts, ...text, ...calls], finish)],
      usageMetadata: geminiUsage(reply),
      ...shared,
    },
    events: events.map((event) => serverSentEvent(event).replaceAll('\n', '\r\n')),
    eventType: 'text/event-stream',
  }
}

/** Gemini's `candidatesTokenCount` excludes reasoning. */
function geminiUsage({ usage }: PreparedReply): JsonObject {
  const reasoning = usage.reasoning ?? 0
  return {
    promptTokenCount: usage.input,
    candidatesTokenCount: usage.output - reasoning,
    totalTokenCount: usage.input + usage.output,
    ...(reasoning > 0 && { thoughtsTokenCount: reasoning }),
    ...(usage.cacheRead !== undefined && { cachedContentTokenCount: usage.cacheRead }),
    promptTokensDetails: [{ modality: 'TEXT', tokenCount: usage.input }],
  }
}
