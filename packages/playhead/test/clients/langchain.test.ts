import { createRequire } from 'node:module'
import { load as loadPrevious, require as requirePrevious } from '@playhead/previous-clients'
import { callTool, inTurns } from '@playhead/scripted-model'
import { describe, expect, test } from 'vitest'
import { setScene, tornText, variantsOf } from './scene.ts'

type Modules = {
  openai: typeof import('@langchain/openai')
  messages: typeof import('@langchain/core/messages')
}

const require = createRequire(import.meta.url)

const variants = variantsOf<Modules>({
  '@langchain/openai 1, ESM': async () => ({
    openai: await import('@langchain/openai'),
    messages: await import('@langchain/core/messages'),
  }),
  '@langchain/openai 0, ESM': async () => ({
    openai: await loadPrevious.langChainOpenAi(),
    messages: await loadPrevious.langChainMessages(),
  }),
  '@langchain/openai 1, CJS': () => ({
    openai: require('@langchain/openai'),
    messages: require('@langchain/core/messages'),
  }),
  '@langchain/openai 0, CJS': () => ({
    openai: requirePrevious('@langchain/openai'),
    messages: requirePrevious('@langchain/core/messages'),
  }),
})

const weatherTool = {
  type: 'function' as const,
  function: {
    name: 'get_weather',
    description: 'The weather of a city',
    parameters: { type: 'object', properties: { city: { type: 'string' } } },
  },
}

describe.each(variants)('$name', ({ load, isBuiltBefore }) => {
  const build = async (url: string) => {
    const { openai, messages } = await load()
    const configuration = { baseURL: `${url}/v1` }
    const chat = new openai.ChatOpenAI({ model: 'gpt-4o', apiKey: 'sk-test', maxRetries: 1, configuration })
    const embeddings = new openai.OpenAIEmbeddings({ apiKey: 'sk-test', configuration })
    return { chat, embeddings, messages }
  }

  test('records a conversation with a tool', async () => {
    const { client, recorder } = await setScene(
      inTurns(callTool('get_weather', { city: 'Bonn' }), { text: 'Sunny.', usage: { input: 60, output: 3 } }),
      build,
      { isBuiltBefore },
    )
    const { chat, messages } = client
    const question = new messages.HumanMessage('Weather in Bonn?')
    const withTools = chat.bindTools([weatherTool])
    const answer = await withTools.invoke([question])
    const call = answer.tool_calls![0]!
    const result = new messages.ToolMessage({ content: '{"sky":"sun"}', tool_call_id: call.id! })
    await withTools.invoke([question, answer, result])
    const [asked, told] = recorder.calls()
    expect(asked!.content.messages!.at(-1)!.parts).toEqual([
      { type: 'tool-call', id: call.id, name: 'get_weather', arguments: { city: 'Bonn' } },
    ])
    expect(told!.step).toMatchObject({
      model: 'gpt-4o',
      usage: { input: 60, output: 3 },
      outputPreview: 'Sunny.',
    })
    expect(told!.step.cost).toBeCloseTo((60 * 2.5 + 3 * 10) / 1e6, 9)
  })

  test('streams text and embeds', async () => {
    const { client, recorder } = await setScene(
      () => ({ text: tornText, usage: { input: 9, output: 8 }, sliceBytes: 47 }),
      build,
      { isBuiltBefore },
    )
    let text = ''
    for await (const chunk of await client.chat.stream('Greet me.')) text += chunk.text
    expect(text).toBe(tornText)
    await client.embeddings.embedQuery('one')
    const [streamed, embedded] = recorder.calls()
    expect(streamed!.step).toMatchObject({ outputPreview: tornText, usage: { input: 9, output: 8 } })
    expect(streamed!.step.firstTokenMs).toBeGreaterThan(0)
    expect(embedded!.step).toMatchObject({ kind: 'embedding', inputPreview: 'one' })
  })
})
