import { Anthropic } from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import { load as loadPrevious } from '@playhead/previous-clients'
import { callTool, inTurns } from '@playhead/scripted-model'
import { OpenAI } from 'openai'
import { expect, onTestFinished, test } from 'vitest'
import { wrapAnthropic, wrapGoogleGenAI, wrapOpenAI } from '../../src/capture/hooks/wrap-client.ts'
import { setScene, startModel, tornText } from './scene.ts'

/** Hides the HTTP layer, so that only wrapped clients are recorded. */
const unseen = { isOwnRequest: () => true }
const messages = [{ role: 'user' as const, content: 'Hi' }]
const reply = () => ({ text: tornText, usage: { input: 100, output: 10 } })

test.each([
  ['openai 7', async () => (await import('openai')).OpenAI],
  ['openai 6', async () => (await loadPrevious.openai()).OpenAI as unknown as typeof OpenAI],
])('wrapOpenAI records chat, streams, responses, embeddings and errors of %s', async (_name, load) => {
  const Client = await load()
  const { client, recorder } = await setScene(
    ({ userText }) =>
      userText === 'fail' ? { error: { status: 400, message: 'No.', type: 'bad' } } : reply(),
    (url) => wrapOpenAI(new Client({ apiKey: 'sk-test', baseURL: `${url}/v1` })),
    { capture: unseen },
  )
  await client.chat.completions.create({ model: 'gpt-4o', messages })
  const stream = await client.chat.completions.create({ model: 'gpt-4o', messages, stream: true })
  let text = ''
  for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? ''
  expect(text).toBe(tornText)
  await client.responses.create({ model: 'gpt-4o', input: 'Hi' }).withResponse()
  await client.embeddings.create({ model: 'text-embedding-3-small', input: 'one' })
  await client.withOptions({ timeout: 1000 }).chat.completions.create({ model: 'gpt-4o', messages })
  const raw = await client.chat.completions.create({ model: 'gpt-4o', messages }).asResponse()
  expect(await raw.json()).toMatchObject({ object: 'chat.completion' })
  await expect(
    client.chat.completions.create({ model: 'gpt-4o', messages: [{ role: 'user', content: 'fail' }] }),
  ).rejects.toThrow('No.')
  expect(
    recorder.calls().map(({ step }) => [step.kind, step.status, step.outputPreview, step.usage?.input]),
  ).toEqual([
    ['llm', 'ok', tornText, 100],
    ['llm', 'ok', tornText, undefined],
    ['llm', 'ok', tornText, 100],
    ['embedding', 'ok', undefined, 100],
    ['llm', 'ok', tornText, 100],
    ['llm', 'ok', undefined, undefined],
    ['llm', 'error', undefined, undefined],
  ])
  expect(recorder.calls()[1]!.step.firstTokenMs).toBeGreaterThan(0)
  expect(recorder.calls().at(-1)!.step.error).toMatchObject({ type: 'bad' })
})

test.each([
  ['@anthropic-ai/sdk 1', async () => (await import('@anthropic-ai/sdk')).Anthropic],
  [
    '@anthropic-ai/sdk 0',
    async () => (await loadPrevious.anthropic()).Anthropic as unknown as typeof Anthropic,
  ],
])('wrapAnthropic records messages, streams and aborted streams of %s', async (_name, load) => {
  const Client = await load()
  const { client, recorder } = await setScene(
    () => ({ ...reply(), chunkDelayMs: 2 }),
    (url) => wrapAnthropic(new Client({ apiKey: 'sk-ant-test', baseURL: url })),
    { capture: unseen },
  )
  const ask = { model: 'claude-haiku-4-5', max_tokens: 10, messages }
  await client.messages.create(ask)
  expect(await client.messages.stream(ask).finalText()).toBe(tornText)
  for await (const event of await client.messages.create({ ...ask, stream: true }))
    if (event.type === 'content_block_delta') break
  const calls = recorder.calls()
  expect(calls.map(({ step }) => [step.status, step.usage])).toEqual([
    ['ok', { input: 100, output: 10, total: 110 }],
    ['ok', { input: 100, output: 10, total: 110 }],
    ['ok', { input: 100, output: 1, total: 101 }],
  ])
  expect(calls[1]!.step.outputPreview).toBe(tornText)
  expect(calls[2]!.content.attributes['playhead.stream.aborted']).toBe(true)
})

test.each([
  ['@google/genai 2', async () => (await import('@google/genai')).GoogleGenAI],
  [
    '@google/genai 1',
    async () => (await loadPrevious.googleGenAi()).GoogleGenAI as unknown as typeof GoogleGenAI,
  ],
])('wrapGoogleGenAI records content, streams, chats and embeddings of %s', async (_name, load) => {
  const Client = await load()
  const { client, recorder } = await setScene(
    reply,
    (url) => wrapGoogleGenAI(new Client({ apiKey: 'AIza-test', httpOptions: { baseUrl: url } })),
    { capture: unseen },
  )
  const ask = {
    model: 'gemini-2.5-flash',
    contents: 'Hi',
    config: { systemInstruction: 'Be brief.', temperature: 0 },
  }
  await client.models.generateContent(ask)
  let text = ''
  for await (const chunk of await client.models.generateContentStream(ask)) text += chunk.text ?? ''
  expect(text).toBe(tornText)
  await client.chats.create({ model: 'gemini-2.5-flash' }).sendMessage({ message: 'Hello' })
  await client.models.embedContent({ model: 'gemini-embedding-001', contents: ['one'] })
  const calls = recorder.calls()
  expect(calls.map(({ step }) => [step.kind, step.provider, step.outputPreview])).toEqual([
    ['llm', 'gcp.gemini', tornText],
    ['llm', 'gcp.gemini', tornText],
    ['llm', 'gcp.gemini', tornText],
    ['embedding', 'gcp.gemini', undefined],
  ])
  expect(calls[0]!.content.messages![0]).toEqual({
    role: 'system',
    parts: [{ type: 'text', text: 'Be brief.' }],
  })
  expect(calls[0]!.content.parameters).toEqual({ temperature: 0 })
})

test('a wrapped client works the same while nothing is recorded', async () => {
  const model = await startModel(inTurns(callTool('look'), 'Seen.'))
  const client = wrapOpenAI(wrapOpenAI(new OpenAI({ apiKey: 'sk-test', baseURL: `${model.url}/v1` })))
  const { data, response } = await client.chat.completions
    .create({ model: 'gpt-4o', messages })
    .withResponse()
  expect(response.status).toBe(200)
  expect(data.choices[0]!.finish_reason).toBe('tool_calls')
})

test('an unhandled rejection stays unhandled', async () => {
  const { client } = await setScene(
    () => ({ error: { status: 400 } }),
    (url) => wrapOpenAI(new OpenAI({ apiKey: 'sk-test', baseURL: `${url}/v1` })),
    { capture: unseen },
  )
  const unhandled: unknown[] = []
  const before = process.rawListeners('unhandledRejection')
  process.removeAllListeners('unhandledRejection')
  process.on('unhandledRejection', (error) => unhandled.push(error))
  onTestFinished(() => {
    process.removeAllListeners('unhandledRejection')
    for (const listener of before) process.on('unhandledRejection', listener as (error: unknown) => void)
  })
  void client.chat.completions.create({ model: 'gpt-4o', messages })
  await expect.poll(() => unhandled.length).toBe(1)
})
