import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { afterEach, expect, test } from 'vitest'
import { wrapAnthropic, wrapOpenAI } from '../../src/capture/hooks/wrap-client.ts'
import { setTape, type ActiveTape, type TapeAnswer } from '../../src/record/session/active-tape.ts'
import { startRecorder } from '../clients/recorder.ts'
import { tornText } from '../clients/scene.ts'

afterEach(() => setTape(undefined))

const question = { model: 'gpt-4o', messages: [{ role: 'user' as const, content: 'Hi' }] }
const completion = {
  model: 'gpt-4o',
  choices: [{ index: 0, message: { role: 'assistant', content: tornText }, finish_reason: 'stop' }],
}
const event = (delta: object) => `data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n`
const stream = [event({ role: 'assistant', content: tornText }), event({ content: '!' }), 'data: [DONE]\n\n']

/** A transport that does not use HTTP. */
function createTransport() {
  const sent: unknown[] = []
  const transport = async (_url: unknown, init?: RequestInit) => {
    sent.push(JSON.parse(String(init?.body)))
    return Response.json(completion)
  }
  return { sent, transport: transport as typeof fetch }
}

function play(answer: TapeAnswer): void {
  const tape: ActiveTape = { isStrict: true, respond: () => answer, act: () => ({ kind: 'run' }) }
  setTape(() => tape)
}

const served = (type: string, chunks: string[]): TapeAnswer => ({
  kind: 'response',
  status: 200,
  headers: { 'content-type': type },
  chunks,
})

test('a wrapped client with a transport of its own is answered from the tape, also as a stream', async () => {
  const recorder = startRecorder()
  const { sent, transport } = createTransport()
  const client = wrapOpenAI(new OpenAI({ apiKey: 'none', fetch: transport }))
  const copy = client.withOptions({ timeout: 1000 })
  play(served('application/json', [JSON.stringify(completion)]))
  for (const asked of [client, copy])
    expect((await asked.chat.completions.create(question)).choices[0]!.message.content).toBe(tornText)
  play(served('text/event-stream', stream))
  let text = ''
  for await (const chunk of await client.chat.completions.create({ ...question, stream: true }))
    text += chunk.choices[0]?.delta.content ?? ''
  expect(text).toBe(`${tornText}!`)
  expect(sent).toEqual([])
  expect(
    recorder.calls().map(({ step, span }) => [step.outputPreview, span.attributes['playhead.step.source']]),
  ).toEqual([
    [tornText, 'tape'],
    [tornText, 'tape'],
    [`${tornText}!`, 'tape'],
  ])
  setTape(undefined)
  await client.chat.completions.create(question)
  expect(sent).toEqual([question])
  recorder.uninstall()
})

test('it may go live with another body, is aborted, and fails as recorded', async () => {
  const { sent, transport } = createTransport()
  const client = wrapOpenAI(new OpenAI({ apiKey: 'none', fetch: transport, maxRetries: 0 }))
  const tapped: unknown[] = []
  const tap = {
    onHead: (status: number) => tapped.push(status),
    onChunk: (bytes: Uint8Array) => tapped.push(JSON.parse(Buffer.from(bytes).toString())),
    onEnd: () => tapped.push('end'),
  }
  const edited = { ...question, model: 'gpt-4o-mini' }
  play({ kind: 'live', body: Buffer.from(JSON.stringify(edited)), tap })
  expect(await client.chat.completions.create(question)).toMatchObject(completion)
  expect(sent).toEqual([edited])
  expect(tapped).toEqual([200, completion, 'end'])
  play({ ...(served('text/event-stream', stream.slice(0, 1)) as object), isAborted: true } as TapeAnswer)
  const answer = await client.chat.completions.create({ ...question, stream: true })
  const seen: unknown[] = []
  for await (const chunk of answer) {
    seen.push(chunk)
    answer.controller.abort()
  }
  expect(seen).toHaveLength(1)
  play({ kind: 'connection-error', code: 'ECONNREFUSED', message: 'refused' })
  await expect(client.chat.completions.create(question)).rejects.toMatchObject({
    cause: { cause: { code: 'ECONNREFUSED' } },
  })
})

test('Anthropic’s client as well', async () => {
  const { sent, transport } = createTransport()
  const client = wrapAnthropic(new Anthropic({ apiKey: 'none', fetch: transport }))
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    content: [{ type: 'text', text: tornText }],
  }
  play(served('application/json', [JSON.stringify(message)]))
  const asked = { model: 'claude-opus-4-6', max_tokens: 10, messages: question.messages }
  expect(await client.messages.create(asked)).toMatchObject(message)
  expect(sent).toEqual([])
})
