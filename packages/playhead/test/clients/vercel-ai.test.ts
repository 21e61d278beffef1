import { createRequire } from 'node:module'
import { load as loadPrevious, require as requirePrevious } from '@playhead/previous-clients'
import { callTool, inTurns } from '@playhead/scripted-model'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { setScene, tornText, variantsOf } from './scene.ts'

type Modules = {
  ai: typeof import('ai')
  openai: typeof import('@ai-sdk/openai')
  anthropic: typeof import('@ai-sdk/anthropic')
}

const require = createRequire(import.meta.url)

const variants = variantsOf<Modules>({
  'ai 7, ESM': async () => ({
    ai: await import('ai'),
    openai: await import('@ai-sdk/openai'),
    anthropic: await import('@ai-sdk/anthropic'),
  }),
  'ai 6, ESM': async () => ({
    ai: await loadPrevious.ai(),
    openai: await loadPrevious.aiOpenAi(),
    anthropic: await loadPrevious.aiAnthropic(),
  }),
  'ai 7, CJS': () => ({
    ai: require('ai'),
    openai: require('@ai-sdk/openai'),
    anthropic: require('@ai-sdk/anthropic'),
  }),
  'ai 6, CJS': () => ({
    ai: requirePrevious('ai'),
    openai: requirePrevious('@ai-sdk/openai'),
    anthropic: requirePrevious('@ai-sdk/anthropic'),
  }),
})

describe.each(variants)('$name', ({ load, isBuiltBefore }) => {
  const build = async (url: string) => {
    const { ai, openai, anthropic } = await load()
    return {
      ai,
      openai: openai.createOpenAI({ apiKey: 'sk-test', baseURL: `${url}/v1` }),
      anthropic: anthropic.createAnthropic({ apiKey: 'sk-ant-test', baseURL: `${url}/v1` }),
    }
  }

  test('records an agent with tools over chat completions', async () => {
    const { client, recorder } = await setScene(
      inTurns(callTool('getWeather', { city: 'Köln' }), {
        text: 'It rains.',
        usage: { input: 40, output: 4 },
      }),
      build,
      { isBuiltBefore },
    )
    const { ai, openai } = client
    const { text } = await ai.generateText({
      model: openai.chat('gpt-4o'),
      prompt: 'Weather in Köln?',
      tools: {
        getWeather: ai.tool({
          description: 'The weather of a city',
          inputSchema: z.object({ city: z.string() }),
          execute: async ({ city }) => ({ city, sky: 'rain' }),
        }),
      },
      stopWhen: ai.stepCountIs(3),
    })
    expect(text).toBe('It rains.')
    const [asked, told] = recorder.calls()
    expect(asked!.content.messages!.at(-1)!.parts).toEqual([
      { type: 'tool-call', id: 'call_1_0', name: 'getWeather', arguments: { city: 'Köln' } },
    ])
    expect(told!.step).toMatchObject({ usage: { input: 40, output: 4 }, outputPreview: 'It rains.' })
    expect(told!.content.messages!.find(({ role }) => role === 'tool')!.parts).toEqual([
      { type: 'tool-result', id: 'call_1_0', result: { city: 'Köln', sky: 'rain' } },
    ])
  })

  test('streams responses and Anthropic messages', async () => {
    const { client, recorder } = await setScene(
      () => ({
        text: tornText,
        reasoning: 'Greet.',
        usage: { input: 30, output: 9, cacheRead: 20 },
        sliceBytes: 53,
      }),
      build,
      { isBuiltBefore },
    )
    const { ai, openai, anthropic } = client
    for (const model of [openai.responses('gpt-5-mini'), anthropic('claude-haiku-4-5')]) {
      const { textStream } = ai.streamText({ model, prompt: 'Greet me.', maxOutputTokens: 100 })
      let text = ''
      for await (const piece of textStream) text += piece
      expect(text).toBe(tornText)
    }
    const calls = recorder.calls()
    expect(calls.map(({ step }) => [step.provider, step.outputPreview, step.usage])).toEqual([
      ['openai', tornText, { input: 30, output: 9, cacheRead: 20, total: 39 }],
      ['anthropic', tornText, { input: 30, output: 9, cacheRead: 20, total: 39 }],
    ])
    for (const { content } of calls) {
      expect(content.streaming!.chunks!.map(([, piece]) => piece).join('')).toBe(tornText)
      expect(content.messages!.at(-1)!.parts[0]).toEqual({ type: 'reasoning', text: 'Greet.' })
    }
  })

  test('records its retries', async () => {
    let attempts = 0
    const { client, recorder } = await setScene(
      () => ((attempts += 1) === 1 ? { error: { status: 429, retryAfterSeconds: 0 } } : 'At last.'),
      build,
      { isBuiltBefore },
    )
    const { ai, openai } = client
    await ai.generateText({ model: openai.chat('gpt-4o'), prompt: 'Hi' })
    expect(recorder.calls().map(({ step }) => [step.status, step.error?.type])).toEqual([
      ['error', 'rate_limit_error'],
      ['ok', undefined],
    ])
  })
})
