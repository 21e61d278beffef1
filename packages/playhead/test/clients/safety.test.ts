import { EventEmitter, on } from 'node:events'
import { channel } from 'node:diagnostics_channel'
import http from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { OpenAI } from 'openai'
import { expect, test } from 'vitest'
import { inAction, startRecorder, tracer } from './recorder.ts'
import { setScene, startModel, tornText } from './scene.ts'

const messages = [{ role: 'user' as const, content: 'Hi' }]
const build = (url: string) => new OpenAI({ apiKey: 'sk-test', baseURL: `${url}/v1`, maxRetries: 0 })

async function readStream(client: OpenAI, content = 'Hi'): Promise<string> {
  const stream = await client.chat.completions.create({
    model: 'gpt-4o',
    stream: true,
    messages: [{ role: 'user', content }],
  })
  let text = ''
  for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? ''
  return text
}

test('200 parallel streams each stay in the action that started them', async () => {
  const { client, recorder } = await setScene(
    ({ userText }) => ({ text: `${userText} one two three`, chunkDelayMs: Number(userText.slice(1)) % 7 }),
    build,
  )
  const emitter = new EventEmitter().setMaxListeners(0)
  await Promise.all(
    Array.from({ length: 200 }, (_item, index) =>
      inAction(`a${index}`, async () => {
        await sleep(index % 13)
        if (index % 3 === 0) {
          setImmediate(() => emitter.emit(`go${index}`))
          for await (const _event of on(emitter, `go${index}`)) break
        }
        const [text] = await Promise.all([readStream(client, `a${index}`), sleep(index % 5)])
        expect(text).toBe(`a${index} one two three`)
      }),
    ),
  )
  const steps = recorder.steps()
  const actions = new Map(
    steps.filter(({ step }) => step.kind === 'action').map(({ step }) => [step.id, step.name]),
  )
  const calls = recorder.calls()
  expect(calls).toHaveLength(200)
  for (const { step } of calls) expect(step.inputPreview).toBe(actions.get(step.parentId!))
  expect(recorder.counts()).toEqual({ captured: 200, failed: 0 })
})

const faults = {
  'a tracer that throws': { tracer: () => fail() },
  'a redaction that throws': { redactText: () => fail() },
  'an isOwnRequest that throws': { isOwnRequest: () => fail() },
  'a reporter that throws': { tracer: () => fail(), report: () => fail() },
  'a span that throws when it ends': {
    tracer: () => ({
      ...tracer,
      startSpan: () => {
        const span = tracer.startSpan('x')
        span.setAttributes = () => fail()
        return span
      },
    }),
  },
}

function fail(): never {
  throw new Error('a fault of ours')
}

test.each(Object.entries(faults))('%s never reaches the host', async (_name, fault) => {
  const { client, recorder } = await setScene(() => tornText, build, { capture: fault })
  const answer = await client.chat.completions.create({ model: 'gpt-4o', messages })
  expect(answer.choices[0]!.message.content).toBe(tornText)
  expect(await readStream(client)).toBe(tornText)
  expect(recorder.counts().failed).toBeGreaterThan(0)
  expect(recorder.counts().captured).toBe(0)
  expect(recorder.reports.length).toBeLessThan(2)
})

test('uninstall removes all hooks', async () => {
  const dispatchers = () =>
    [Symbol.for('undici.globalDispatcher.1'), Symbol.for('undici.globalDispatcher.2')]
      .map((symbol) => (globalThis as unknown as Record<symbol, object | undefined>)[symbol])
      .filter((dispatcher) => dispatcher !== undefined)
  void globalThis.Headers
  const before = { fetch: globalThis.fetch, request: http.request, dispatchers: dispatchers() }
  const model = await startModel(() => 'Hi.')
  const recorder = startRecorder()
  await readStream(build(model.url))
  expect(recorder.calls()).toHaveLength(1)
  recorder.uninstall()
  await readStream(build(model.url))
  expect(recorder.calls()).toHaveLength(1)
  expect(globalThis.fetch).toBe(before.fetch)
  expect(http.request).toBe(before.request)
  expect(dispatchers()).toEqual(before.dispatchers)
  for (const dispatcher of dispatchers()) expect(Object.hasOwn(dispatcher, 'dispatch')).toBe(false)
  for (const name of [
    'undici:request:create',
    'undici:request:bodyChunkReceived',
    'http.client.request.created',
  ])
    expect(channel(name).hasSubscribers).toBe(false)
})

test('a new capture replaces one that was not uninstalled', async () => {
  const forgotten: string[] = []
  startRecorder({ isOwnRequest: ({ href }) => forgotten.push(href) > 0 })
  const { client, recorder } = await setScene(() => 'Hi.', build)
  await readStream(client)
  expect(recorder.calls()).toHaveLength(1)
  expect(forgotten).toEqual([])
})

test('without content, the structure is kept and the text is dropped', async () => {
  const { client, recorder } = await setScene(
    () => ({
      text: 'A secret plan',
      toolCalls: [{ name: 'act', arguments: { plan: 'secret' } }],
      reasoning: 'secretly',
    }),
    build,
    { capture: { content: false } },
  )
  const stream = await client.chat.completions.create({
    model: 'gpt-4o',
    stream: true,
    stop: ['secret'],
    messages: [
      { role: 'system', content: 'secret rules' },
      {
        role: 'user',
        content: [{ type: 'image_url', image_url: { url: 'https://example.com/secret.png' } }],
      },
    ],
    tools: [
      { type: 'function', function: { name: 'act', description: 'secret', parameters: { secret: 1 } } },
    ],
  })
  for await (const _chunk of stream) continue
  const { content, span, step } = recorder.call()
  expect(JSON.stringify(span.attributes)).not.toContain('secret')
  expect(content.messages!.map(({ role, parts }) => [role, parts.map(({ type }) => type)])).toEqual([
    ['system', ['text']],
    ['user', ['media']],
    ['assistant', ['reasoning', 'text', 'tool-call']],
  ])
  expect(content.toolDefinitions).toEqual([{ type: 'function', name: 'act' }])
  expect(step.outputPreview).toBe('[13 characters]')
  expect(content.streaming!.chunks!.length).toBe(3)
})

test('secrets are redacted everywhere, even if a stream splits them', async () => {
  const key = 'sk-abcdefghijklmnop'
  const { client, recorder } = await setScene(
    ({ isStream }) =>
      isStream
        ? { chunks: ['The key is sk-abcd', 'efgh', 'ijklmnop', ', keep it.'] }
        : { error: { status: 401, message: `Incorrect API key provided: ${key}` } },
    build,
    { capture: { redactText: (text) => text.replaceAll(/sk-[a-z]{16}/g, '[redacted]') } },
  )
  expect(await readStream(client, `Use ${key}`)).toBe(`The key is ${key}, keep it.`)
  await expect(client.chat.completions.create({ model: 'gpt-4o', messages })).rejects.toThrow(key)
  expect(JSON.stringify(recorder.steps().map(({ content, step }) => [content, step]))).not.toContain(
    'sk-abcd',
  )
  const [streamed, refused] = recorder.calls()
  expect(streamed!.step).toMatchObject({
    inputPreview: 'Use [redacted]',
    outputPreview: 'The key is [redacted], keep it.',
  })
  const chunks = streamed!.content.streaming!.chunks!
  expect(chunks.map(([, text]) => text).join('')).toBe('The key is [redacted], keep it.')
  expect(chunks).toHaveLength(4)
  expect(refused!.step.error!.message).toBe('Incorrect API key provided: [redacted]')
})

test.each([
  ['a long prompt', { content: 'long '.repeat(4000) }, 'Short.', ['messages']],
  ['a long answer', { content: 'Hi' }, 'long '.repeat(4000), ['response']],
])('%s is what was truncated', async (_name, message, reply, cut) => {
  const { client, recorder } = await setScene(() => reply, build, { capture: { maxValueBytes: 4096 } })
  await client.chat.completions.create({ model: 'gpt-4o', messages: [{ role: 'user', ...message }] })
  expect(recorder.call().span.attributes['playhead.truncated.of']).toEqual(cut)
})

test('values stay within their limit, stay valid, and are marked as truncated', async () => {
  const maxValueBytes = 4096
  const { client, recorder } = await setScene(() => 'ü'.repeat(5000), build, { capture: { maxValueBytes } })
  await client.chat.completions.create({
    model: 'gpt-4o',
    messages: [
      { role: 'system', content: 'Be brief.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'long '.repeat(4000) },
          { type: 'image_url', image_url: { url: `data:image/png;base64,${'A'.repeat(40_000)}` } },
        ],
      },
      ...Array.from({ length: 5 }, (_item, index) => ({ role: 'user' as const, content: `short ${index}` })),
    ],
  })
  const { content, step, span } = recorder.call()
  expect([step.isTruncated, span.attributes['playhead.truncated.of']]).toEqual([
    true,
    ['messages', 'response'],
  ])
  for (const value of Object.values(span.attributes))
    if (typeof value === 'string') expect(Buffer.byteLength(value)).toBeLessThanOrEqual(maxValueBytes)
  expect(content.messages!.map(({ role }) => role)).toEqual([
    'system',
    ...Array.from({ length: 6 }, () => 'user'),
    'assistant',
  ])
  expect(content.messages![1]!.parts[1]).toEqual({
    type: 'media',
    modality: 'image',
    mimeType: 'image/png',
    uri: 'blob:not-recorded?bytes=30000',
  })
  expect(content.messages!.at(-2)!.parts).toEqual([{ type: 'text', text: 'short 4' }])
  const [text] = content.messages!.at(-1)!.parts
  expect(text).toMatchObject({
    type: 'text',
    text: expect.stringMatching(/^ü+… \[\d+ of 5000 characters\]$/),
  })
})
