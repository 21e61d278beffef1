import type { FieldName } from './fields.ts'

/** Ids that look like a thread's and are something else: a project, a protocol session, an operating system thread. */
const falseFriends = [
  'langsmith.trace.',
  'langsmith.span.',
  'mcp.',
  'thread.',
  'process.',
  'db.',
  'browser.',
  'messaging.',
  'http.',
  'jsonrpc.',
  'aws.',
  'gcp.vertex.agent.',
  'openai_agents.',
]

const endings = new Map<string, FieldName>([
  ['input_tokens', 'inputTokens'],
  ['prompt_tokens', 'inputTokens'],
  ['inputTokens', 'inputTokens'],
  ['promptTokens', 'inputTokens'],
  ['tokens.input', 'inputTokens'],
  ['tokens.prompt', 'inputTokens'],
  ['output_tokens', 'outputTokens'],
  ['completion_tokens', 'outputTokens'],
  ['outputTokens', 'outputTokens'],
  ['completionTokens', 'outputTokens'],
  ['tokens.output', 'outputTokens'],
  ['tokens.completion', 'outputTokens'],
  ['total_tokens', 'totalTokens'],
  ['totalTokens', 'totalTokens'],
  ['tokens.total', 'totalTokens'],
  ['cache_read_input_tokens', 'cacheReadTokens'],
  ['cached_tokens', 'cacheReadTokens'],
  ['cached_input_tokens', 'cacheReadTokens'],
  ['cacheReadInputTokens', 'cacheReadTokens'],
  ['cachedInputTokens', 'cacheReadTokens'],
  ['cache_creation_input_tokens', 'cacheWriteTokens'],
  ['cache_write_input_tokens', 'cacheWriteTokens'],
  ['cacheCreationInputTokens', 'cacheWriteTokens'],
  ['cacheWriteInputTokens', 'cacheWriteTokens'],
  ['reasoning_tokens', 'reasoningTokens'],
  ['reasoningTokens', 'reasoningTokens'],
  ['cost_usd', 'cost'],
  ['total_cost', 'cost'],
  ['model', 'bareModel'],
  ['model_name', 'bareModel'],
  ['model_id', 'bareModel'],
  ['modelId', 'bareModel'],
  ['modelName', 'bareModel'],
  ['span.kind', 'statedKind'],
  ['span_kind', 'statedKind'],
  ['spanKind', 'statedKind'],
  ['span.type', 'statedKind'],
  ['span_type', 'statedKind'],
  ['spanType', 'statedKind'],
  ['step.type', 'statedKind'],
  ['step_type', 'statedKind'],
  ['run.type', 'statedKind'],
  ['run_type', 'statedKind'],
  ['observation.type', 'statedKind'],
  ['observation_type', 'statedKind'],
  ['session.id', 'threadId'],
  ['session_id', 'threadId'],
  ['sessionId', 'threadId'],
  ['conversation.id', 'threadId'],
  ['conversation_id', 'threadId'],
  ['conversationId', 'threadId'],
  ['thread_id', 'threadId'],
  ['threadId', 'threadId'],
  ['chat_id', 'threadId'],
  ['chatId', 'threadId'],
  ['user_id', 'userId'],
  ['userId', 'userId'],
])

/** What a key that no dialect knows most likely means, judged by how it ends. */
export function guessField(key: string): FieldName | undefined {
  const dot = key.lastIndexOf('.')
  const field =
    endings.get(key.slice(dot + 1)) ?? endings.get(key.slice(key.lastIndexOf('.', dot - 1) + 1)) ?? undefined
  const isId = field === 'threadId' || field === 'userId'
  return isId && falseFriends.some((prefix) => key.startsWith(prefix)) ? undefined : field
}
