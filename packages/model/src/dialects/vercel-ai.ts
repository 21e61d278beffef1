import { mapWords } from '../json/word-table.ts'
import type { Message, Part } from '../session/message.ts'
import type { StepKind } from '../session/step.ts'
import { isRecord, toText } from '../json/attribute-value.ts'
import type { Dialect, KindResult, SpanReading } from './reading/dialect.ts'
import { parseJsonText } from '../json/json-text.ts'
import { ofKind } from './reading/kind-words.ts'
import { recentMessages } from './reading/recent-messages.ts'
import { messagesOfRequest } from '../providers/payload.ts'
import { readJson } from './reading/payload.ts'
import { addToolCalls, toMessages } from '../providers/messages.ts'
import { toPart } from '../providers/parts.ts'

const kinds = mapWords({
  action: 'ai.toolCall',
  workflow: 'ai.embed ai.embedMany ai.rerank',
})

const calls: [ending: string, StepKind][] = [
  ['.doGenerate', 'llm'],
  ['.doStream', 'llm'],
  ['.doEmbed', 'embedding'],
  ['.doRerank', 'retrieval'],
]

const loop: KindResult = { kind: 'workflow', question: 'agent-if-tools-below' }
const loops = new Set(['ai.generateText', 'ai.streamText', 'ai.generateObject', 'ai.streamObject'])

/** The Vercel AI SDK 4 to 6, and 7 with legacy telemetry; the telemetry of 7 itself is plain OTel GenAI. */
export const vercelAi: Dialect = {
  name: 'vercel-ai',
  signs: ['ai.'],
  numbers: {
    inputTokens: ['ai.usage.inputTokens', 'ai.usage.promptTokens', 'ai.usage.tokens'],
    outputTokens: ['ai.usage.outputTokens', 'ai.usage.completionTokens'],
    totalTokens: ['ai.usage.totalTokens'],
    cacheReadTokens: ['ai.usage.inputTokenDetails.cacheReadTokens', 'ai.usage.cachedInputTokens'],
    cacheWriteTokens: ['ai.usage.inputTokenDetails.cacheWriteTokens'],
    reasoningTokens: ['ai.usage.outputTokenDetails.reasoningTokens', 'ai.usage.reasoningTokens'],
    firstChunkMs: ['ai.response.msToFirstChunk', 'ai.stream.msToFirstChunk'],
  },
  texts: {
    vercelOperation: ['ai.operationId'],
    requestModel: ['ai.model.id'],
    responseModel: ['ai.response.model'],
    provider: ['ai.model.provider'],
    responseId: ['ai.response.id'],
    toolName: ['ai.toolCall.name'],
    toolCallId: ['ai.toolCall.id'],
    functionId: ['ai.telemetry.functionId'],
    threadId: [
      ...namesBelow('ai.telemetry.metadata.'),
      ...namesBelow('ai.settings.context.'),
      ...namesBelow('ai.settings.runtimeContext.'),
    ],
    userId: [
      'ai.telemetry.metadata.userId',
      'ai.telemetry.metadata.user_id',
      'ai.settings.context.userId',
      'ai.settings.runtimeContext.userId',
    ],
  },
  values: {
    promptMessages: ['ai.prompt.messages'],
    prompt: ['ai.prompt'],
    toolDefinitions: ['ai.prompt.tools'],
    responseText: ['ai.response.text', 'ai.result.text'],
    responseReasoning: ['ai.response.reasoning'],
    responseToolCalls: ['ai.response.toolCalls', 'ai.result.toolCalls'],
    responseObject: ['ai.response.object', 'ai.result.object'],
    toolArguments: ['ai.toolCall.args', 'ai.toolCall.input'],
    toolResult: ['ai.toolCall.result', 'ai.toolCall.output'],
    finishReasons: ['ai.response.finishReason', 'ai.finishReason'],
    providerMetadata: ['ai.response.providerMetadata'],
    tags: ['ai.telemetry.metadata.tags', 'ai.settings.context.tags'],
    embeddingInput: ['ai.value', 'ai.values'],
  },
  groups: {
    'ai.telemetry.metadata.': 'sessionMetadata',
    'ai.settings.context.': 'sessionMetadata',
    'ai.settings.runtimeContext.': 'sessionMetadata',
    'ai.settings.': 'parameters',
  },
  kind: readKind,
  hasSharedMessageKeys: true,
  inputMessages: readInput,
  outputMessages: readOutput,
  excludesCache: ({ fields, span }, { isSplitProvider }) =>
    isSplitProvider &&
    fields.vercelOperation !== undefined &&
    span.attributes['ai.usage.inputTokenDetails.cacheReadTokens'] === undefined &&
    span.attributes['ai.usage.inputTokenDetails.noCacheTokens'] === undefined,
}

function namesBelow(prefix: string): string[] {
  return ['sessionId', 'session_id', 'conversationId', 'threadId'].map((name) => prefix + name)
}

function readKind({ fields, span }: SpanReading): KindResult | undefined {
  const operation = fields.vercelOperation ?? span.name.split(' ', 1)[0]!
  if (loops.has(operation)) return loop
  const kind = kinds.get(operation) ?? calls.find(([ending]) => operation.endsWith(ending))?.[1]
  return kind === undefined ? undefined : ofKind(kind)
}

function readInput(reading: SpanReading): Message[] | undefined {
  const { promptMessages, prompt } = reading.fields
  if (promptMessages !== undefined) {
    const isText = reading.isOutlineOnly && typeof promptMessages === 'string'
    const recent = isText ? recentMessages(promptMessages) : undefined
    if (recent !== undefined) return recent
    const messages = toMessages(readJson(reading, promptMessages), 'user')
    return messages.length === 0 ? undefined : messages
  }
  return prompt === undefined ? undefined : messagesOfRequest(readJson(reading, prompt))
}

function readOutput(reading: SpanReading): Message[] | undefined {
  const { responseText, responseReasoning, responseToolCalls, responseObject } = reading.fields
  const parts: Part[] = []
  const reasoning = readReasoning(readJson(reading, responseReasoning))
  if (reasoning !== undefined) parts.push({ type: 'reasoning', text: reasoning })
  const text = readAnswer(responseText) ?? toText(responseObject)
  if (text !== undefined) parts.push({ type: 'text', text })
  if (responseToolCalls !== undefined) addToolCalls(parts, readJson(reading, responseToolCalls))
  return parts.length === 0 ? undefined : [{ role: 'assistant', parts }]
}

/** Sentry writes several replies as one JSON list. */
function readAnswer(value: unknown): string | undefined {
  const text = toText(value)
  const list = text?.startsWith('["') === true ? parseJsonText(text) : value
  return Array.isArray(list) ? toText(list.map((item) => toText(item) ?? '').join('\n')) : text
}

/** Text, or a list of parts from version 5 on. */
function readReasoning(value: unknown): string | undefined {
  if (!Array.isArray(value)) return toText(value)
  const texts = value.map((item) => (isRecord(item) ? toPart({ ...item, type: 'text' }) : toPart(item)))
  return toText(texts.map((part) => (part.type === 'text' ? part.text : '')).join('\n'))
}
