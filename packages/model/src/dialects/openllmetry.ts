import { mapWords } from '../json/word-table.ts'
import type { Message } from '../session/message.ts'
import { isRecord, type JsonObject } from '../json/attribute-value.ts'
import type { Dialect, KindResult, SpanReading } from './reading/dialect.ts'
import { unflattenList, type FlatEntry } from './reading/flattened-keys.ts'
import { parseJsonText } from '../json/json-text.ts'
import { kindOfWord } from './reading/kind-words.ts'
import { toMessage } from '../providers/messages.ts'
import { toPart } from '../providers/parts.ts'

const kinds = mapWords({
  workflow: 'workflow session task',
  agent: 'agent',
  action: 'tool',
  handoff: 'handoff',
})

/** Spans of model calls had no `traceloop.span.kind` before 2026. */
const requestTypes = mapWords({
  llm: 'chat completion',
  embedding: 'embedding',
  retrieval: 'rerank',
})

/** OpenLLMetry (Traceloop): keys below `traceloop.`, and messages flattened by index, which many others use too. */
export const openLlmetry: Dialect = {
  name: 'openllmetry',
  signs: ['traceloop.', 'llm.request.', 'llm.usage.', 'llm.is_streaming', 'llm.chat.'],
  scopes: ['@traceloop/', 'traceloop'],
  numbers: {
    inputTokens: ['llm.usage.prompt_tokens'],
    outputTokens: ['llm.usage.completion_tokens'],
    totalTokens: ['llm.usage.total_tokens'],
    reasoningTokens: ['llm.usage.reasoning_tokens'],
    cacheReadTokens: ['llm.usage.cache_read_input_tokens'],
    cacheWriteTokens: ['llm.usage.cache_creation_input_tokens'],
  },
  texts: {
    traceloopKind: ['traceloop.span.kind'],
    requestType: ['llm.request.type', 'gen_ai.request.type'],
    requestModel: ['llm.request.model'],
    responseModel: ['llm.response.model'],
    entityName: ['traceloop.entity.name'],
    workflowName: ['traceloop.workflow.name'],
    threadId: ['session_id', 'conversation_id', 'thread_id', 'chat_id'].map(
      (name) => `traceloop.association.properties.${name}`,
    ),
    userId: ['traceloop.association.properties.user_id'],
    handoffFrom: ['gen_ai.handoff.from_agent'],
    handoffTo: ['gen_ai.handoff.to_agent'],
    guardrailName: ['gen_ai.guardrail.name'],
    guardrailStatus: ['gen_ai.guardrail.status'],
    errorType: ['gen_ai.guardrail.error.type'],
    errorMessage: ['gen_ai.guardrail.error.message'],
  },
  values: {
    input: ['traceloop.entity.input', 'gen_ai.guardrail.input', 'crewai.task.description'],
    output: ['traceloop.entity.output', 'gen_ai.guardrail.output'],
    isStreaming: ['gen_ai.is_streaming', 'llm.is_streaming'],
  },
  groups: {
    'traceloop.association.properties.': 'sessionMetadata',
    'gen_ai.prompt.': 'promptMessages',
    'gen_ai.completion.': 'completionMessages',
    'llm.request.functions.': 'functions',
    'llm.': 'looseParameters',
  },
  kind: readKind,
  hasSharedMessageKeys: true,
  inputMessages: ({ groups }) => readMessages(groups.promptMessages, 'user'),
  outputMessages: ({ groups }) => readMessages(groups.completionMessages, 'assistant'),
  excludesCache: ({ span }) =>
    span.scope.name === '@traceloop/instrumentation-anthropic' &&
    isUpTo(span.scope.version, lastVersionWithoutCache),
  isUsageEstimated,
}

const lastVersionWithoutCache = [0, 27, 0]

function isUpTo(version: string, limit: readonly number[]): boolean {
  const numbers = version.split('.').map((part) => Number.parseInt(part, 10))
  for (const [index, bound] of limit.entries()) {
    const number = numbers[index] ?? 0
    if (number !== bound) return number < bound
  }
  return true
}

/** The instrumentation of OpenAI counts the tokens of streams with a tokenizer. */
function isUsageEstimated({ span, fields }: SpanReading): boolean {
  if (span.scope.name !== '@traceloop/instrumentation-openai') return false
  return fields.isStreaming !== false && fields.isStreaming !== 'false'
}

function readKind({ fields }: SpanReading): KindResult | undefined {
  return (
    kindOfWord(kinds, fields.traceloopKind?.toLowerCase()) ??
    kindOfWord(requestTypes, fields.requestType?.toLowerCase())
  )
}

function readMessages(entries: FlatEntry[] | undefined, role: string): Message[] | undefined {
  if (entries === undefined) return undefined
  const messages: Message[] = []
  for (const item of unflattenList(entries)) {
    const message = isRecord(item) ? toMessage(cleanContent(item), role) : toMessage(item, role)
    if (message !== undefined) messages.push(message)
  }
  return messages.length === 0 ? undefined : messages
}

/** The content of a turn that only calls tools is the text "null"; Anthropic's content is the JSON of its blocks. */
function cleanContent(item: JsonObject): JsonObject {
  const { content } = item
  const shape: JsonObject = { ...item, role: item.role ?? undefined, type: undefined }
  if (typeof content !== 'string') return shape
  if (content === 'null') return { ...shape, content: undefined }
  if (!content.startsWith('[')) return shape
  const blocks = parseJsonText(content)
  const isBlocks =
    Array.isArray(blocks) && blocks.some((block) => isRecord(block) && toPart(block).type !== 'other')
  return isBlocks ? { ...shape, content: blocks } : shape
}
