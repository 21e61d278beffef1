import { createRequire } from 'node:module'
import { load as loadPrevious, require as requirePrevious } from '@playhead/previous-clients'
import { callTool, inTurns } from '@playhead/scripted-model'
import { describe, expect, test } from 'vitest'
import { setScene, startModel, tornText, variantsOf } from './scene.ts'

type OpenAiModule = typeof import('openai')
type Client = InstanceType<OpenAiModule['OpenAI']>

const require = createRequire(import.meta.url)

const variants = variantsOf<OpenAiModule>({
  'openai 7, ESM': () => import('openai'),
  'openai 7, CJS': () => require('openai'),
  'openai 6, ESM': () => loadPrevious.openai(),
  'openai 6, CJS': () => requirePrevious('openai'),
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
  const build = async (url: string): Promise<Client> => {
    const { OpenAI } = await load()
    return new OpenAI({ apiKey: 'sk-test', baseURL: `${url}/v1`, maxRetries: 2 })
  }

  test('records a chat completion as the model sent it', async () => {
    const { client, recorder } = await setScene(
      () => ({ text: 'It rains.', usage: { input: 1200, output: 30, cacheRead: 1000, reasoning: 12 } }),
      build,
      { isBuiltBefore },
    )
    const answer = await client.chat.completions.create({
      model: 'gpt-4o',
      temperature: 0.2,
      max_completion_tokens: 100,
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'How is the weather?' },
      ],
    })
    expect(answer.choices[0]!.message.content).toBe('It rains.')
    const { step, content, span } = recorder.call()
    expect(span).toMatchObject({ name: 'chat gpt-4o', kind: 3, statusCode: 0 })
    expect(step).toMatchObject({
      kind: 'llm',
      model: 'gpt-4o',
      provider: 'openai',
      status: 'ok',
      responseId: answer.id,
      finishReasons: ['stop'],
      usage: { input: 1200, output: 30, cacheRead: 1000, reasoning: 12, total: 1230 },
      // 200 fresh at 2.5, 1000 cached at 1.25, 30 at 10 dollars per million.
      cost: 0.00205,
    })
    expect(content.parameters).toEqual({ temperature: 0.2, max_tokens: 100 })
    expect(content.messages).toEqual([
      { role: 'system', parts: [{ type: 'text', text: 'Be brief.' }] },
      { role: 'user', parts: [{ type: 'text', text: 'How is the weather?' }] },
      {
        role: 'assistant',
        parts: [{ type: 'text', text: 'It rains.' }],
        finishReason: 'stop',
        isOutput: true,
      },
    ])
    expect(recorder.counts()).toEqual({ captured: 1, failed: 0 })
  })

  test('streams text from arbitrary chunks, and the caller sees the same chunks as without the SDK', async () => {
    const reply = {
      id: 'chatcmpl-1',
      chunks: ['Grü', 'ße ✓ ', '你', '好 👩‍🚀', ' – done.'],
      usage: { input: 10, output: 9 },
      sliceBytes: 29,
      delayMs: 30,
    }
    const ask = async (client: Client) => {
      const startedAt = performance.now()
      const stream = await client.chat.completions.create({
        model: 'gpt-4o-mini',
        stream: true,
        stream_options: { include_usage: true },
        messages: [{ role: 'user', content: 'Greet me.' }],
      })
      const chunks = []
      let firstTokenMs: number | undefined
      for await (const chunk of stream) {
        if (chunk.choices[0]?.delta.content) firstTokenMs ??= performance.now() - startedAt
        chunks.push(chunk)
      }
      return { chunks, firstTokenMs: firstTokenMs! }
    }
    const bare = await ask(await build((await startModel(() => reply)).url))
    const { client, recorder, model } = await setScene(() => reply, build, { isBuiltBefore })
    const seen = await ask(client)
    expect(seen.chunks).toEqual(bare.chunks)
    const { step, content } = recorder.call()
    expect(step).toMatchObject({ usage: { input: 10, output: 9 }, outputPreview: tornText, status: 'ok' })
    expect(content.streaming!.chunks!.map(([, text]) => text)).toEqual(reply.chunks)
    // The SDK's interval contains the model's, and the caller's contains the SDK's.
    expect(step.firstTokenMs).toBeGreaterThanOrEqual(model.requests[0]!.firstByteMs!)
    expect(step.firstTokenMs).toBeLessThanOrEqual(seen.firstTokenMs)
    expect(content.attributes['playhead.stream.aborted']).toBeUndefined()
  })

  test('records tool calls and their results', async () => {
    const { client, recorder } = await setScene(
      inTurns(callTool('get_weather', { city: 'Köln' }), 'It rains in Köln.'),
      build,
      { isBuiltBefore },
    )
    const ask: Parameters<Client['chat']['completions']['create']>[0] = {
      model: 'gpt-4o',
      messages: [{ role: 'user', content: 'Weather in Köln?' }],
      tools: [weatherTool],
    }
    const first = await client.chat.completions.create({ ...ask, stream: false })
    const call = first.choices[0]!.message.tool_calls![0]!
    ask.messages.push(first.choices[0]!.message, {
      role: 'tool',
      tool_call_id: call.id,
      content: '{"sky":"rain"}',
    })
    await client.chat.completions.create({ ...ask, stream: false })
    const [asked, told] = recorder.calls()
    expect(asked!.step.finishReasons).toEqual(['tool_call'])
    expect(asked!.content.toolDefinitions).toEqual([
      {
        name: 'get_weather',
        description: 'The weather of a city',
        type: 'function',
        parameters: weatherTool.function.parameters,
      },
    ])
    expect(asked!.content.messages!.at(-1)!.parts).toEqual([
      { type: 'tool-call', id: call.id, name: 'get_weather', arguments: { city: 'Köln' } },
    ])
    expect(told!.content.messages!.slice(1, 3)).toEqual([
      {
        role: 'assistant',
        parts: [{ type: 'tool-call', id: call.id, name: 'get_weather', arguments: { city: 'Köln' } }],
      },
      { role: 'tool', parts: [{ type: 'tool-result', id: call.id, result: { sky: 'rain' } }] },
    ])
  })

  test('records streamed tool calls, refusals and several choices', async () => {
    const { client, recorder } = await setScene(
      ({ userText }) =>
        userText === 'tool'
          ? { ...callTool('get_weather', { city: 'Rom' }), reasoning: 'Which city?' }
          : userText === 'refuse'
            ? { refusal: 'I can not help with that.' }
            : { text: 'one', otherChoices: ['two', 'three'] },
      build,
      { isBuiltBefore },
    )
    for (const content of ['tool', 'refuse', 'many']) {
      const stream = client.chat.completions.stream({
        model: 'gpt-4o',
        n: content === 'many' ? 3 : 1,
        messages: [{ role: 'user', content }],
        tools: [weatherTool],
      })
      for await (const _chunk of stream) continue
    }
    const [tool, refused, many] = recorder.calls()
    expect(tool!.content.messages!.at(-1)!.parts).toEqual([
      { type: 'reasoning', text: 'Which city?' },
      { type: 'tool-call', id: 'call_1_0', name: 'get_weather', arguments: { city: 'Rom' } },
    ])
    expect(tool!.step.firstTokenMs).toBeGreaterThan(0)
    expect(refused!.content.messages!.at(-1)!.parts).toEqual([
      { type: 'refusal', text: 'I can not help with that.' },
    ])
    expect(many!.content.messages!.filter(({ isOutput }) => isOutput).map(({ parts }) => parts)).toEqual([
      [{ type: 'text', text: 'one' }],
      [{ type: 'text', text: 'two' }],
      [{ type: 'text', text: 'three' }],
    ])
    expect(many!.content.parameters).toMatchObject({ n: 3 })
  })

  test('records structured outputs', async () => {
    const { client, recorder } = await setScene([], build, { isBuiltBefore })
    const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
    const answer = await client.chat.completions.parse({
      model: 'gpt-4o',
      messages: [{ role: 'user', content: 'Köln' }],
      response_format: { type: 'json_schema', json_schema: { name: 'place', strict: true, schema } },
    })
    expect(answer.choices[0]!.message.content).toBe('{"city":"Köln"}')
    const { content, step } = recorder.call()
    expect(content.attributes['gen_ai.output.type']).toBe('json')
    expect(content.attributes['gen_ai.request.response_format']).toContain('"city"')
    expect(step.outputPreview).toBe('{"city":"Köln"}')
  })

  test('records responses, whole and streamed', async () => {
    const { client, recorder } = await setScene(
      inTurns(
        {
          ...callTool('get_weather', { city: 'Bonn' }),
          reasoning: 'A city.',
          usage: { input: 50, output: 20, reasoning: 8 },
        },
        { text: tornText, sliceBytes: 41, usage: { input: 80, output: 15, cacheRead: 40 } },
      ),
      build,
      { isBuiltBefore },
    )
    const first = await client.responses.create({
      model: 'gpt-5-mini',
      instructions: 'Be brief.',
      input: 'Weather in Bonn?',
      tools: [{ type: 'function', strict: false, ...weatherTool.function }],
    })
    const call = first.output.find((item) => item.type === 'function_call')!
    const stream = await client.responses.create({
      model: 'gpt-5-mini',
      previous_response_id: first.id,
      input: [{ type: 'function_call_output', call_id: call.call_id, output: '{"sky":"sun"}' }],
      stream: true,
    })
    let text = ''
    for await (const event of stream) if (event.type === 'response.output_text.delta') text += event.delta
    expect(text).toBe(tornText)
    const [asked, told] = recorder.calls()
    expect(asked!.step).toMatchObject({
      name: 'gpt-5-mini',
      responseId: first.id,
      usage: { input: 50, output: 20, reasoning: 8 },
      finishReasons: ['tool_call'],
    })
    expect(asked!.content.messages).toEqual([
      { role: 'system', parts: [{ type: 'text', text: 'Be brief.' }] },
      { role: 'user', parts: [{ type: 'text', text: 'Weather in Bonn?' }] },
      {
        role: 'assistant',
        parts: [
          { type: 'reasoning', text: 'A city.' },
          { type: 'tool-call', id: call.call_id, name: 'get_weather', arguments: { city: 'Bonn' } },
        ],
        finishReason: 'tool_calls',
        isOutput: true,
      },
    ])
    expect(told!.step).toMatchObject({
      outputPreview: tornText,
      usage: { input: 80, cacheRead: 40, output: 15 },
    })
    expect(told!.content.messages![0]).toEqual({
      role: 'tool',
      parts: [{ type: 'tool-result', id: call.call_id, result: { sky: 'sun' } }],
    })
    expect(told!.content.streaming!.chunks!.map(([, piece]) => piece).join('')).toBe(tornText)
  })

  test('records embeddings without their vectors', async () => {
    const { client, recorder } = await setScene(() => ({ usage: { input: 7 } }), build, { isBuiltBefore })
    const answer = await client.embeddings.create({
      model: 'text-embedding-3-small',
      input: ['one', 'two'],
      dimensions: 512,
    })
    expect(answer.data[1]!.embedding).toHaveLength(512)
    const { step, content } = recorder.call()
    expect(step).toMatchObject({ kind: 'embedding', model: 'text-embedding-3-small', usage: { input: 7 } })
    expect(step.cost).toBeCloseTo(1.4e-7, 12)
    expect(content.messages![0]!.parts).toEqual([
      { type: 'text', text: 'one' },
      { type: 'text', text: 'two' },
    ])
    expect(JSON.stringify(content.attributes)).not.toContain('embedding":')
  })

  test('records each retry as a separate step', async () => {
    let attempts = 0
    const { client, recorder } = await setScene(
      () => {
        attempts += 1
        if (attempts === 1)
          return {
            error: { status: 429, message: 'Slow down.', type: 'rate_limit_exceeded', retryAfterSeconds: 0 },
          }
        return attempts === 2 ? { error: { status: 500, retryAfterSeconds: 0 } } : 'At last.'
      },
      build,
      { isBuiltBefore },
    )
    const answer = await client.chat.completions.create({
      model: 'gpt-4o',
      messages: [{ role: 'user', content: 'Hi' }],
    })
    expect(answer.choices[0]!.message.content).toBe('At last.')
    expect(
      recorder.calls().map(({ step }) => [step.status, step.attempt, step.error?.type, step.error?.message]),
    ).toEqual([
      ['error', 1, 'rate_limit_exceeded', 'Slow down.'],
      ['error', 2, 'api_error', 'The script answers 500.'],
      ['ok', 3, undefined, undefined],
    ])
    expect(recorder.calls()[0]!.content.attributes['http.response.header.retry-after']).toEqual(['0'])
  })

  test('does not change errors', async () => {
    const script = () => ({ error: { status: 400, message: 'Unknown model.', type: 'model_not_found' } })
    const ask = (client: Client) =>
      client.chat.completions
        .create({ model: 'gpt-9', messages: [{ role: 'user', content: 'Hi' }] })
        .catch((error: unknown) => error as Error & { status: number })
    const bare = await ask(await build((await startModel(script)).url))
    const { client, recorder } = await setScene(script, build, { isBuiltBefore })
    const error = await ask(client)
    expect(Object.entries(error).filter(([key]) => key !== 'headers')).toEqual(
      Object.entries(bare).filter(([key]) => key !== 'headers'),
    )
    expect([(error as Error).message, error.constructor]).toEqual([(bare as Error).message, bare.constructor])
    expect(recorder.call().step).toMatchObject({
      status: 'error',
      error: { type: 'model_not_found', message: 'Unknown model.' },
    })
  })

  test('keeps what was received of an aborted stream', async () => {
    const { client, recorder } = await setScene(
      () => ({ text: 'one two three four five six seven', chunkDelayMs: 5 }),
      build,
      { isBuiltBefore },
    )
    const ask = {
      model: 'gpt-4o',
      stream: true as const,
      messages: [{ role: 'user' as const, content: 'Count' }],
    }
    let seen = ''
    for await (const chunk of await client.chat.completions.create(ask)) {
      seen += chunk.choices[0]?.delta.content ?? ''
      if (seen.includes('two')) break
    }
    const controller = new AbortController()
    const stream = await client.chat.completions.create(ask, { signal: controller.signal })
    let second = ''
    for await (const chunk of stream) {
      second += chunk.choices[0]?.delta.content ?? ''
      if (second.includes('three')) controller.abort()
    }
    await expect.poll(() => recorder.calls().length).toBe(2)
    const [broken, aborted] = recorder.calls()
    expect(broken!.step).toMatchObject({ status: 'ok', outputPreview: seen.trim() })
    expect(broken!.content.attributes['playhead.stream.aborted']).toBe(true)
    expect(aborted!.step).toMatchObject({ status: 'ok', outputPreview: second.trim() })
    expect(aborted!.content.attributes['playhead.stream.aborted']).toBe(true)
  })
})
