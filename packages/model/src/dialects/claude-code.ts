import { mapWords } from '../json/word-table.ts'
import type { Dialect } from './reading/dialect.ts'
import { kindOfWord } from './reading/kind-words.ts'

const kinds = mapWords({
  agent: 'interaction',
  llm: 'llm_request',
  action: 'tool',
  event: 'tool.execution tool.blocked_on_user',
  workflow: 'hook',
})

/** Claude Code and the CLI of its agent SDK, which also send logs: see `log-to-draft.ts`. */
export const claudeCode: Dialect = {
  name: 'claude-code',
  signs: ['claude_code.'],
  scopes: ['com.anthropic.claude_code'],
  numbers: {
    inputTokens: ['input_tokens'],
    outputTokens: ['output_tokens'],
    cacheReadTokens: ['cache_read_tokens'],
    cacheWriteTokens: ['cache_creation_tokens'],
    cacheWrite5mTokens: ['cache_creation_5m_tokens'],
    cacheWrite1hTokens: ['cache_creation_1h_tokens'],
    cost: ['cost_usd'],
    firstChunkMs: ['ttft_ms'],
    attempt: ['attempt'],
  },
  texts: {
    spanType: ['span.type'],
    bareModel: ['model'],
    toolName: ['tool_name'],
    toolCallId: ['tool_use_id'],
    errorMessage: ['error'],
  },
  values: {
    input: ['user_prompt'],
    output: ['response.model_output'],
    toolArguments: ['tool_input', 'full_command', 'tool_parameters'],
    finishReasons: ['stop_reason'],
    success: ['success'],
  },
  expand: ({ fields }) => {
    if (fields.spanType === 'interaction') fields.agentName ??= 'claude-code'
  },
  excludesCache: () => true,
  kind: ({ fields, span }) =>
    kindOfWord(kinds, fields.spanType) ?? kindOfWord(kinds, span.name.replace('claude_code.', '')),
}
