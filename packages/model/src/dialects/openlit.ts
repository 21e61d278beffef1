import type { Dialect } from './reading/dialect.ts'

/** OpenLIT: OTel GenAI with costs and with token details named as by OpenAI. */
export const openLit: Dialect = {
  name: 'openlit',
  signs: ['openlit.'],
  scopes: ['openlit', '@openlit/'],
  numbers: {
    cost: ['gen_ai.usage.cost', 'gen_ai.cost.total_cost', 'gen_ai.usage.cost.total'],
    cacheReadTokens: [
      'gen_ai.usage.prompt_tokens_details.cache_read',
      'gen_ai.usage.prompt_tokens_details.cached_tokens',
      'gen_ai.usage.input_tokens.cached',
      'gen_ai.usage.input_cached_tokens',
    ],
    cacheWriteTokens: ['gen_ai.usage.prompt_tokens_details.cache_write'],
    reasoningTokens: [
      'gen_ai.usage.completion_tokens_details.reasoning',
      'gen_ai.usage.completion_tokens_details.reasoning_tokens',
      'gen_ai.usage.output_tokens.reasoning',
    ],
    audioInputTokens: ['gen_ai.usage.prompt_tokens_details.audio', 'gen_ai.usage.input_audio_tokens'],
    audioOutputTokens: ['gen_ai.usage.completion_tokens_details.audio', 'gen_ai.usage.output_audio_tokens'],
  },
  texts: { threadId: ['gen_ai.agent.session_id'] },
}
