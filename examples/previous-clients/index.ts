import { createRequire } from 'node:module'

/** The previous majors of the clients as ES modules. */
export const load = {
  openai: () => import('openai'),
  anthropic: () => import('@anthropic-ai/sdk'),
  ai: () => import('ai'),
  aiOpenAi: () => import('@ai-sdk/openai'),
  aiAnthropic: () => import('@ai-sdk/anthropic'),
  langChainOpenAi: () => import('@langchain/openai'),
  langChainMessages: () => import('@langchain/core/messages'),
  openAiAgents: () => import('@openai/agents'),
  googleGenAi: () => import('@google/genai'),
}

/** Resolves and loads as CommonJS. */
export const require: NodeJS.Require = createRequire(import.meta.url)
