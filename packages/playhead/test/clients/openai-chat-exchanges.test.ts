import { expect, test } from 'vitest'
import { chat, play, useRecorder } from './play-exchange.ts'

useRecorder()

test('DeepSeek: reasoning content and cache hits', () => {
  const { answer, step } = play({
    url: 'https://api.deepseek.com/chat/completions',
    request: { ...chat, model: 'deepseek-reasoner', stream: true },
    response: [
      { id: 'd1', choices: [{ index: 0, delta: { role: 'assistant', reasoning_content: 'Hm' } }] },
      { id: 'd1', choices: [{ index: 0, delta: { reasoning_content: 'm.' } }] },
      { id: 'd1', choices: [{ index: 0, delta: { content: 'Yes.' }, finish_reason: 'stop' }] },
      {
        id: 'd1',
        choices: [],
        usage: { prompt_tokens: 20, completion_tokens: 5, prompt_cache_hit_tokens: 12 },
      },
    ],
  })
  expect(answer).toEqual([
    { type: 'reasoning', text: 'Hmm.' },
    { type: 'text', text: 'Yes.' },
  ])
  expect(step).toMatchObject({ provider: 'deepseek', usage: { input: 20, output: 5, cacheRead: 12 } })
})

test('Mistral: thinking parts in the content', () => {
  const thinking = [{ type: 'thinking', thinking: [{ type: 'text', text: 'Hmm.' }] }]
  const whole = play({
    url: 'https://api.mistral.ai/v1/chat/completions',
    request: chat,
    response: {
      id: 'm1',
      choices: [
        { message: { content: [...thinking, { type: 'text', text: 'Oui.' }] }, finish_reason: 'stop' },
      ],
    },
  })
  const streamed = play({
    url: 'https://api.mistral.ai/v1/chat/completions',
    request: { ...chat, stream: true },
    response: [
      { id: 'm1', choices: [{ delta: { content: thinking } }] },
      { id: 'm1', choices: [{ delta: { content: 'Oui.' }, finish_reason: 'stop' }] },
    ],
  })
  const parts = [
    { type: 'reasoning', text: 'Hmm.' },
    { type: 'text', text: 'Oui.' },
  ]
  expect(whole.answer).toEqual(parts)
  expect(streamed.answer).toEqual(parts)
  expect(streamed.content.streaming!.chunks!.map(([, text]) => text)).toEqual(['Oui.'])
})

test('xAI: completion tokens leave out reasoning', () => {
  const usage = {
    prompt_tokens: 10,
    completion_tokens: 5,
    total_tokens: 115,
    completion_tokens_details: { reasoning_tokens: 100 },
  }
  const { step } = play({
    url: 'https://api.x.ai/v1/chat/completions',
    request: { ...chat, model: 'grok-4' },
    response: { choices: [{ message: { content: 'Ha.' }, finish_reason: 'stop' }], usage },
  })
  expect(step.usage).toMatchObject({ input: 10, output: 105, reasoning: 100 })
})

test('OpenRouter: the reported cost counts', () => {
  const { step } = play({
    url: 'https://openrouter.ai/api/v1/chat/completions',
    request: { ...chat, model: 'meta-llama/llama-3.3-70b-instruct' },
    response: {
      id: 'gen-1',
      model: 'meta-llama/llama-3.3-70b-instruct',
      choices: [{ message: { content: 'Hi.', reasoning: 'Hm.' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 10, completion_tokens: 5, cost: 0.00042 },
    },
  })
  expect(step).toMatchObject({ cost: 0.00042, costSource: 'reported', provider: 'openrouter' })
})

test('OpenAI: audio in and out', () => {
  const { content, answer, step } = play({
    url: 'https://api.openai.com/v1/chat/completions',
    request: {
      model: 'gpt-4o-audio-preview',
      messages: [
        { role: 'user', content: [{ type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }] },
      ],
    },
    response: {
      choices: [
        {
          message: { content: null, audio: { id: 'a', data: 'BBBB', transcript: 'Hello' } },
          finish_reason: 'stop',
        },
      ],
      usage: {
        prompt_tokens: 100,
        completion_tokens: 50,
        prompt_tokens_details: { audio_tokens: 90 },
        completion_tokens_details: { audio_tokens: 40 },
      },
    },
  })
  expect(content.messages![0]!.parts).toEqual([
    { type: 'media', modality: 'audio', mimeType: 'audio/wav', base64: 'AAAA' },
  ])
  expect(answer).toEqual([
    { type: 'text', text: 'Hello' },
    { type: 'media', modality: 'audio', base64: 'BBBB' },
  ])
  expect(step.usage).toMatchObject({ audioInput: 90, audioOutput: 40 })
})
