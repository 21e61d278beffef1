import { mapWords, wordsIn } from '../../json/word-table.ts'
import type { FieldName } from './fields.ts'

/** Prefixes of ids that look like a thread's but are a project, a protocol session or an operating system thread. */
const falseFriends = wordsIn(
  `langsmith.trace. langsmith.span. mcp. thread. process. db. browser. messaging. http.
  jsonrpc. aws. gcp.vertex.agent. openai_agents.`,
)

const endings: ReadonlyMap<string, FieldName> = mapWords({
  inputTokens: 'input_tokens prompt_tokens inputTokens promptTokens tokens.input tokens.prompt',
  outputTokens: `
    output_tokens completion_tokens outputTokens completionTokens tokens.output tokens.completion
  `,
  totalTokens: 'total_tokens totalTokens tokens.total',
  cacheReadTokens: `
    cache_read_input_tokens cached_tokens cached_input_tokens cacheReadInputTokens cachedInputTokens
  `,
  cacheWriteTokens: `
    cache_creation_input_tokens cache_write_input_tokens cacheCreationInputTokens cacheWriteInputTokens
  `,
  cacheWrite5mTokens: 'ephemeral_5m_input_tokens',
  cacheWrite1hTokens: 'ephemeral_1h_input_tokens',
  reasoningTokens: 'reasoning_tokens reasoningTokens',
  usageObject: `
    usage_metadata usageMetadata usage_object usage_details token_usage tokenUsage raw_usage usage.raw
    response.usage
  `,
  input: 'input inputs input_json input.value',
  output: 'output outputs output_json output.value',
  toolName: 'tool.name tool_name toolName',
  toolArguments: 'tool.arguments tool_arguments tool.input tool_input call.arguments',
  toolResult: 'tool.result tool_result tool.output tool_output call.result',
  toolCallId: 'tool_call_id toolCallId',
  agentName: 'agent.name agent_name agentName',
  cost: 'cost_usd total_cost',
  bareModel: 'model model_name model_id modelId modelName',
  statedKind: `
    span.kind span_kind spanKind span.type span_type spanType step.type step_type run.type run_type
    observation.type observation_type
  `,
  threadId: `
    session.id session_id sessionId conversation.id conversation_id conversationId thread_id threadId
    chat_id chatId
  `,
  userId: 'user_id userId',
})

/** Guesses the meaning of an unknown key by its ending. */
export function guessField(key: string): FieldName | undefined {
  const dot = key.lastIndexOf('.')
  const field =
    endings.get(key.slice(dot + 1)) ?? endings.get(key.slice(key.lastIndexOf('.', dot - 1) + 1)) ?? undefined
  const isId = field === 'threadId' || field === 'userId'
  return isId && falseFriends.some((prefix) => key.startsWith(prefix)) ? undefined : field
}
