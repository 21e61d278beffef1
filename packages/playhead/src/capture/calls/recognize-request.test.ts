import type { ModelApi } from '@playhead/model'
import { expect, test } from 'vitest'
import { providerOfCall } from './provider-of-call.ts'
import { mayBeCall, recognizeRequest } from './recognize-request.ts'

const messages = [{ role: 'user', content: 'Hi' }]
const chat = { model: 'some-model', messages }
const claude = { model: 'claude-haiku-4-5', max_tokens: 10, messages }
const bedrock = { anthropic_version: 'bedrock-2023-05-31', max_tokens: 10, messages }

const calls: [url: string, body: object, operation: string, model: string | undefined, provider: string][] = [
  ['https://api.openai.com/v1/chat/completions', { ...chat, model: 'gpt-4o' }, 'chat', 'gpt-4o', 'openai'],
  ['https://api.openai.com/v1/responses', { model: 'gpt-5', input: 'Hi' }, 'chat', 'gpt-5', 'openai'],
  [
    'https://api.openai.com/v1/responses',
    { prompt: { id: 'pmpt_1' }, input: [] },
    'chat',
    undefined,
    'openai',
  ],
  [
    'https://api.openai.com/v1/completions',
    { model: 'gpt-3.5-turbo-instruct', prompt: 'Hi' },
    'text_completion',
    'gpt-3.5-turbo-instruct',
    'openai',
  ],
  [
    'https://api.openai.com/v1/embeddings',
    { model: 'text-embedding-3-small', input: 'Hi' },
    'embeddings',
    'text-embedding-3-small',
    'openai',
  ],
  [
    'https://me.openai.azure.com/openai/deployments/my-gpt/chat/completions?api-version=2024-10-21',
    { messages },
    'chat',
    'my-gpt',
    'azure.ai.openai',
  ],
  [
    'https://me.services.ai.azure.com/models/chat/completions',
    chat,
    'chat',
    'some-model',
    'azure.ai.inference',
  ],
  ['https://api.groq.com/openai/v1/chat/completions', chat, 'chat', 'some-model', 'groq'],
  ['https://api.together.xyz/v1/chat/completions', chat, 'chat', 'some-model', 'together_ai'],
  ['https://openrouter.ai/api/v1/chat/completions', chat, 'chat', 'some-model', 'openrouter'],
  ['https://api.mistral.ai/v1/chat/completions', chat, 'chat', 'some-model', 'mistral_ai'],
  [
    'https://api.mistral.ai/v1/agents/completions',
    { agent_id: 'ag_1', messages },
    'chat',
    undefined,
    'mistral_ai',
  ],
  ['https://api.deepseek.com/chat/completions', chat, 'chat', 'some-model', 'deepseek'],
  ['https://api.x.ai/v1/chat/completions', chat, 'chat', 'some-model', 'x_ai'],
  [
    'https://gateway.example.com/openai/chat/completions',
    { ...chat, model: 'gpt-4o' },
    'chat',
    'gpt-4o',
    'openai',
  ],
  ['https://gateway.example.com/v1/chat/completions', chat, 'chat', 'some-model', 'openai_compatible'],
  ['http://localhost:11434/v1/chat/completions', chat, 'chat', 'some-model', 'ollama'],
  [
    'http://localhost:11434/api/chat',
    { ...chat, options: { temperature: 0 } },
    'chat',
    'some-model',
    'ollama',
  ],
  [
    'http://localhost:11434/api/generate',
    { model: 'llama3', prompt: 'Hi' },
    'text_completion',
    'llama3',
    'ollama',
  ],
  ['http://localhost:11434/api/embed', { model: 'nomic', input: ['Hi'] }, 'embeddings', 'nomic', 'ollama'],
  ['http://localhost:1234/v1/chat/completions', chat, 'chat', 'some-model', 'lm_studio'],
  ['http://127.0.0.1:8000/v1/chat/completions', chat, 'chat', 'some-model', 'local'],
  [
    'http://127.0.0.1:4000/v1/chat/completions',
    { ...chat, model: 'claude-haiku-4-5' },
    'chat',
    'claude-haiku-4-5',
    'anthropic',
  ],
  ['https://api.anthropic.com/v1/messages?beta=true', claude, 'chat', 'claude-haiku-4-5', 'anthropic'],
  ['http://127.0.0.1:4000/anthropic/v1/messages', claude, 'chat', 'claude-haiku-4-5', 'anthropic'],
  [
    'https://bedrock-runtime.us-east-1.amazonaws.com/model/us.anthropic.claude-haiku-4-5-20251001-v1%3A0/invoke',
    bedrock,
    'chat',
    'us.anthropic.claude-haiku-4-5-20251001-v1:0',
    'aws.bedrock',
  ],
  [
    'https://bedrock-runtime.us-east-1.amazonaws.com/model/anthropic.claude-3-haiku/invoke-with-response-stream',
    bedrock,
    'chat',
    'anthropic.claude-3-haiku',
    'aws.bedrock',
  ],
  [
    'https://us-east5-aiplatform.googleapis.com/v1/projects/p/locations/us-east5/publishers/anthropic/models/claude-haiku-4-5@20251001:streamRawPredict',
    { ...bedrock, anthropic_version: 'vertex-2023-10-16' },
    'chat',
    'claude-haiku-4-5@20251001',
    'gcp.vertex_ai',
  ],
  [
    'https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:generateContent',
    { contents: [] },
    'generate_content',
    'gemini-2.5-flash',
    'gcp.gemini',
  ],
  [
    'https://aiplatform.googleapis.com/v1/publishers/google/models/gemini-2.5-pro:streamGenerateContent?alt=sse',
    { contents: [] },
    'generate_content',
    'gemini-2.5-pro',
    'gcp.vertex_ai',
  ],
  [
    'https://generativelanguage.googleapis.com/v1beta/models/gemini-embedding-001:batchEmbedContents',
    { requests: [] },
    'embeddings',
    'gemini-embedding-001',
    'gcp.gemini',
  ],
]

test.each(calls)('%s', (address, body, operation, model, provider) => {
  const url = new URL(address)
  expect(mayBeCall('POST', url.pathname + url.search)).toBe(true)
  const api = recognizeRequest(url, body as Record<string, unknown>) as ModelApi
  const question = api.readRequest(body as Record<string, unknown>, url)
  expect([question.operation, question.model, providerOfCall(url, api, question.model)]).toEqual([
    operation,
    model,
    provider,
  ])
})

test.each([
  ['GET', '/v1/chat/completions'],
  ['POST', '/v1/audio/transcriptions'],
  ['POST', '/v1/images/generations'],
  ['POST', '/v1/messages/count_tokens'],
  ['POST', '/v1/messages/batches'],
  ['POST', '/v1/traces'],
  ['POST', '/v1/responses/resp_1/cancel'],
  ['DELETE', '/v1/responses'],
])('%s %s is not a model call', (method, path) => {
  expect(mayBeCall(method, path)).toBe(false)
})

test.each([
  ['https://example.com/api/messages', { messages: ['Hi'], room: 5 }],
  ['https://example.com/v1/messages', { messages, model: 'x' }],
  ['https://example.com/responses', { input: { q1: 'yes' } }],
  ['https://example.com/completions', { messages }],
  ['https://example.com/embeddings', { text: 'Hi' }],
  ['https://example.com/api/chat', { ...chat, chatId: '1' }],
  ['https://example.com/model/thing/invoke', { input: 'Hi' }],
])('%s with another body is not a model call', (url, body) => {
  expect(recognizeRequest(new URL(url), body as Record<string, unknown>)).toBeUndefined()
})
