import OpenAI from 'openai'
import { afterEach, expect, test } from 'vitest'
import { setTape, type ActiveTape, type TapeAnswer } from '../../src/record/session/active-tape.ts'
import { setScene, tornText } from '../clients/scene.ts'

afterEach(() => setTape(undefined))

const reply = () => ({ text: tornText, usage: { input: 10, output: 9 } })

const buildClient = (url: string) => new OpenAI({ apiKey: 'none', baseURL: `${url}/v1`, maxRetries: 0 })

function answerWith(answer: TapeAnswer | Promise<TapeAnswer>): void {
  const tape: ActiveTape = { isStrict: false, respond: () => answer, act: () => ({ kind: 'run' }) }
  setTape(() => tape)
}

/** Writes down what a tap saw. */
function createTap() {
  const seen: { status?: number; type?: string | undefined; text: string; end?: unknown } = { text: '' }
  const decoder = new TextDecoder()
  const tap = {
    onHead: (status: number, headers: Record<string, string>) => {
      seen.status = status
      seen.type = headers['content-type']
    },
    onChunk: (bytes: Uint8Array) => {
      seen.text += decoder.decode(bytes, { stream: true })
    },
    onEnd: (error?: unknown) => {
      seen.end = error instanceof Error ? error.name : 'complete'
    },
  }
  return { seen, tap }
}

const question = { model: 'gpt-4o', messages: [{ role: 'user' as const, content: 'Recorded' }] }
const edited = Buffer.from(
  JSON.stringify({
    model: 'gpt-4o-mini',
    messages: [{ role: 'user', content: 'Edited, and longer: größer' }],
  }),
)

test('a live answer sends another body, which is what is recorded, once', async () => {
  const { client, model, recorder } = await setScene(reply, buildClient)
  const { seen, tap } = createTap()
  const url = new URL(`${model.url}/edited/v1/chat/completions`)
  answerWith(Promise.resolve({ kind: 'live', body: edited, url, tap }))
  const { choices } = await client.chat.completions.create(question)
  expect(choices[0]!.message.content).toBe(tornText)
  expect(model.requests).toMatchObject([
    { path: '/edited/v1/chat/completions', body: JSON.parse(edited.toString()) },
  ])
  expect(seen).toMatchObject({ status: 200, type: 'application/json', end: 'complete' })
  expect(JSON.parse(seen.text)).toMatchObject({ choices: [{ message: { content: tornText } }] })
  const { step, span } = recorder.call()
  expect(step).toMatchObject({ model: 'gpt-4o-mini', outputPreview: tornText })
  expect(span.attributes['playhead.step.source']).toBe('live')
})

test('a live stream reaches the host and the tap', async () => {
  const { client, recorder } = await setScene(reply, buildClient)
  const { seen, tap } = createTap()
  answerWith({ kind: 'live', tap })
  const stream = client.chat.completions.stream(question)
  expect((await stream.finalChatCompletion()).choices[0]!.message.content).toBe(tornText)
  expect(seen).toMatchObject({ status: 200, type: 'text/event-stream', end: 'complete' })
  expect(seen.text).toMatch(/^data: \{[\s\S]+data: \[DONE\]\n\n$/)
  expect(recorder.call().step.outputPreview).toBe(tornText)
})

test('a tap hears of a failure, and its own failure stays with it', async () => {
  const { client, model } = await setScene(reply, buildClient)
  const { seen, tap } = createTap()
  answerWith({ kind: 'live', tap })
  await model.stop()
  await expect(client.chat.completions.create(question)).rejects.toThrow('Connection error')
  expect(seen).toEqual({ text: '', end: 'Error' })
  const broken = () => {
    throw new Error('broken tap')
  }
  answerWith({ kind: 'live', tap: { onHead: broken, onChunk: broken, onEnd: broken } })
  await expect(client.chat.completions.create(question)).rejects.toThrow('Connection error')
})

test('a tape that fails is an error of the request', async () => {
  const { client, model } = await setScene(reply, buildClient)
  answerWith(Promise.reject(new Error('out of budget')))
  await expect(client.chat.completions.create(question)).rejects.toMatchObject({
    cause: { cause: { message: 'out of budget' } },
  })
  expect(model.requests).toEqual([])
})

test('what is answered is marked, and the host may abort while the tape thinks', async () => {
  const { client, recorder } = await setScene(reply, buildClient)
  const body = JSON.stringify({ choices: [{ message: { role: 'assistant', content: 'taped' } }] })
  answerWith({
    kind: 'response',
    status: 200,
    headers: { 'content-type': 'application/json' },
    chunks: [body],
  })
  await client.chat.completions.create(question)
  expect(recorder.call().span.attributes['playhead.step.source']).toBe('tape')
  const abort = new AbortController()
  const { promise, resolve } = Promise.withResolvers<TapeAnswer>()
  answerWith(promise)
  const asked = client.chat.completions.create(question, { signal: abort.signal })
  abort.abort()
  await expect(asked).rejects.toThrow('Request was aborted')
  resolve({ kind: 'live' })
})
