import { createRequire } from 'node:module'
import { load as loadPrevious, require as requirePrevious } from '@playhead/previous-clients'
import { callTool, inTurns } from '@playhead/scripted-model'
import { describe, expect, test } from 'vitest'
import { setScene, startModel, tornText, variantsOf } from './scene.ts'

type AnthropicModule = typeof import('@anthropic-ai/sdk')
type Client = InstanceType<AnthropicModule['Anthropic']>

const require = createRequire(import.meta.url)

const variants = variantsOf<AnthropicModule>({
  '@anthropic-ai/sdk 1, ESM': () => import('@anthropic-ai/sdk'),
  '@anthropic-ai/sdk 1, CJS': () => require('@anthropic-ai/sdk'),
  '@anthropic-ai/sdk 0, ESM': () => loadPrevious.anthropic(),
  '@anthropic-ai/sdk 0, CJS': () => requirePrevious('@anthropic-ai/sdk'),
})

const weatherTool = {
  name: 'get_weather',
  description: 'The weather of a city',
  input_schema: { type: 'object' as const, properties: { city: { type: 'string' } } },
}

describe.each(variants)('$name', ({ load, isBuiltBefore }) => {
  const build = async (url: string): Promise<Client> => {
    const { Anthropic } = await load()
    return new Anthropic({ apiKey: 'sk-ant-test', baseURL: url, maxRetries: 2 })
  }

  test('records a message with cache and thinking as the model sent it', async () => {
    const { client, recorder } = await setScene(
      () => ({
        text: 'It rains.',
        reasoning: 'Think of clouds.',
        redactedReasoning: 'c2VjcmV0',
        usage: {
          input: 3520,
          output: 40,
          cacheRead: 1500,
          cacheWrite: 2000,
          cacheWrite5m: 500,
          cacheWrite1h: 1500,
        },
      }),
      build,
      { isBuiltBefore },
    )
    const answer = await client.messages.create({
      model: 'claude-haiku-4-5',
      max_tokens: 500,
      system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
      thinking: { type: 'enabled', budget_tokens: 1024 },
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'How is the weather?' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGVsbG8=' } },
          ],
        },
      ],
    })
    const { step, content, span } = recorder.call()
    expect(span).toMatchObject({ name: 'chat claude-haiku-4-5', kind: 3 })
    expect(step).toMatchObject({
      kind: 'llm',
      model: 'claude-haiku-4-5',
      provider: 'anthropic',
      responseId: answer.id,
      finishReasons: ['stop'],
      usage: {
        input: 3520,
        output: 40,
        cacheRead: 1500,
        cacheWrite: 2000,
        cacheWrite5m: 500,
        cacheWrite1h: 1500,
        total: 3560,
      },
    })
    // Dollars per million: fresh, read from the cache, written for 5 minutes, for an hour, and the answer.
    expect(step.cost).toBeCloseTo((20 * 1 + 1500 * 0.1 + 500 * 1.25 + 1500 * 2 + 40 * 5) / 1e6, 9)
    expect(content.messages).toEqual([
      { role: 'system', parts: [{ type: 'text', text: 'Be brief.' }] },
      {
        role: 'user',
        parts: [
          { type: 'text', text: 'How is the weather?' },
          { type: 'media', modality: 'image', mimeType: 'image/png', base64: 'aGVsbG8=' },
        ],
      },
      {
        role: 'assistant',
        parts: [
          { type: 'reasoning', text: 'Think of clouds.' },
          { type: 'reasoning', isRedacted: true },
          { type: 'text', text: 'It rains.' },
        ],
        finishReason: 'end_turn',
        isOutput: true,
      },
    ])
  })

  test('streams text from arbitrary chunks, and the caller sees the same events as without the SDK', async () => {
    const reply = {
      id: 'msg_1',
      text: tornText,
      reasoning: 'Greet in a language of theirs.',
      usage: { input: 10, output: 9, cacheRead: 4 },
      sliceBytes: 37,
    }
    const ask = async (client: Client) => {
      const stream = await client.messages.create({
        model: 'claude-haiku-4-5',
        max_tokens: 100,
        stream: true,
        messages: [{ role: 'user', content: 'Greet me.' }],
      })
      const events = []
      for await (const event of stream) events.push(event)
      return events
    }
    const bare = await ask(await build((await startModel(() => reply)).url))
    const { client, recorder, model } = await setScene(() => reply, build, { isBuiltBefore })
    expect(await ask(client)).toEqual(bare)
    const { step, content } = recorder.call()
    expect(step).toMatchObject({
      usage: { input: 10, output: 9, cacheRead: 4 },
      outputPreview: tornText,
      status: 'ok',
    })
    expect(content.streaming!.chunks!.map(([, text]) => text).join('')).toBe(tornText)
    expect(step.firstTokenMs).toBeGreaterThanOrEqual(model.requests[0]!.firstByteMs!)
    expect(content.messages!.at(-1)!.parts[0]).toEqual({
      type: 'reasoning',
      text: 'Greet in a language of theirs.',
    })
  })

  test('records tool calls and their results', async () => {
    const { client, recorder } = await setScene(
      inTurns(callTool('get_weather', { city: 'Köln' }), 'It rains in Köln.'),
      build,
      { isBuiltBefore },
    )
    const ask = {
      model: 'claude-haiku-4-5',
      max_tokens: 100,
      messages: [{ role: 'user', content: 'Weather in Köln?' }] as Parameters<
        Client['messages']['create']
      >[0]['messages'],
      tools: [weatherTool],
    }
    const first = await client.messages.stream(ask).finalMessage()
    const call = first.content.find((block) => block.type === 'tool_use')!
    ask.messages.push(
      { role: 'assistant', content: first.content },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: call.id, content: '{"sky":"rain"}', is_error: true },
          { type: 'text', text: 'Well?' },
        ],
      },
    )
    await client.messages.create(ask)
    const [asked, told] = recorder.calls()
    expect(asked!.step.finishReasons).toEqual(['tool_call'])
    expect(asked!.content.toolDefinitions![0]).toMatchObject({
      name: 'get_weather',
      parameters: weatherTool.input_schema,
    })
    expect(asked!.content.messages!.at(-1)!.parts).toEqual([
      { type: 'tool-call', id: call.id, name: 'get_weather', arguments: { city: 'Köln' } },
    ])
    expect(told!.content.messages!.slice(1, 4)).toEqual([
      {
        role: 'assistant',
        parts: [{ type: 'tool-call', id: call.id, name: 'get_weather', arguments: { city: 'Köln' } }],
      },
      { role: 'tool', parts: [{ type: 'tool-result', id: call.id, result: { sky: 'rain' }, isError: true }] },
      { role: 'user', parts: [{ type: 'text', text: 'Well?' }] },
    ])
  })

  test('records each retry, and an error during a stream', async () => {
    let attempts = 0
    const { client, recorder } = await setScene(
      () => {
        attempts += 1
        if (attempts === 1) return { error: { status: 529, message: 'Overloaded', retryAfterSeconds: 0 } }
        return { text: 'Half of it', streamError: { message: 'Overloaded again' } }
      },
      build,
      { isBuiltBefore },
    )
    const stream = await client.messages.create({
      model: 'claude-haiku-4-5',
      max_tokens: 10,
      stream: true,
      messages: [{ role: 'user', content: 'Hi' }],
    })
    const read = async () => {
      for await (const _event of stream) continue
    }
    await expect(read()).rejects.toThrow('Overloaded again')
    expect(recorder.calls().map(({ step }) => [step.status, step.attempt, step.error?.type])).toEqual([
      ['error', 1, 'overloaded_error'],
      ['error', 2, 'overloaded_error'],
    ])
    expect(recorder.calls()[1]!.step).toMatchObject({
      outputPreview: 'Half of it',
      error: { message: 'Overloaded again' },
    })
  })

  test('keeps what was received of an aborted stream', async () => {
    const { client, recorder } = await setScene(
      () => ({ text: 'one two three four five six seven', chunkDelayMs: 5, usage: { input: 12 } }),
      build,
      { isBuiltBefore },
    )
    const stream = client.messages.stream({
      model: 'claude-haiku-4-5',
      max_tokens: 10,
      messages: [{ role: 'user', content: 'Count' }],
    })
    let seen = ''
    stream.on('text', (text) => {
      seen += text
      if (seen.includes('three')) stream.abort()
    })
    await expect(stream.done()).rejects.toThrow(/abort/i)
    await expect.poll(() => recorder.calls().length).toBe(1)
    const { step, content } = recorder.call()
    expect(step).toMatchObject({ status: 'ok', outputPreview: seen.trim(), usage: { input: 12 } })
    expect(content.attributes['playhead.stream.aborted']).toBe(true)
  })
})
