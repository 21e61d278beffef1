import { OpenAI } from 'openai'
import * as undici8 from 'undici'
import * as undici6 from 'undici-6'
import * as undici7 from 'undici-7'
import { afterEach, describe, expect, onTestFinished, test } from 'vitest'
import { ActiveCapture, setActiveCapture } from '../../src/capture/calls/active-capture.ts'
import { hookFetch } from '../../src/capture/hooks/hook-fetch.ts'
import { UndiciHook } from '../../src/capture/hooks/hook-undici.ts'
import { WatchedRequests } from '../../src/capture/hooks/watched-requests.ts'
import { inAction, startRecorder, tracer } from './recorder.ts'
import { setScene, startModel, tornText } from './scene.ts'

type Undici = typeof undici7

const versions: [string, Undici][] = [
  ['undici 8', undici8 as unknown as Undici],
  ['undici 7', undici7],
  ['undici 6', undici6 as unknown as Undici],
]

const symbols = [Symbol.for('undici.globalDispatcher.1'), Symbol.for('undici.globalDispatcher.2')]
const globals = globalThis as unknown as Record<symbol, undici7.Dispatcher>
const dispatchersBefore = symbols.map((symbol) => globals[symbol]!)

afterEach(() => {
  for (const [index, symbol] of symbols.entries()) globals[symbol] = dispatchersBefore[index]!
})

const question = { model: 'gpt-4o', messages: [{ role: 'user', content: 'Hi' }] }
const streamed = { ...question, stream: true, stream_options: { include_usage: true } }
const reply = () => ({ text: tornText, usage: { input: 10, output: 9 } })
const noClient = (url: string) => url

function post(body: object): RequestInit {
  return { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
}

describe.each(versions)('%s', (name, undici) => {
  const isAnnounced = name !== 'undici 6'

  test('its fetch and request go through the global dispatcher', async () => {
    const { client: url, recorder } = await setScene(reply, noClient)
    const path = `${url}/v1/chat/completions`
    await (await undici.fetch(path, post(streamed) as never)).text()
    await (await undici.request(path, post(question) as never)).body.json()
    const [first, second] = recorder.calls()
    for (const call of [first!, second!])
      expect(call.step).toMatchObject({
        status: 'ok',
        outputPreview: tornText,
        usage: { input: 10, output: 9 },
      })
    expect(recorder.counts().failed).toBe(0)
  })

  test('a custom dispatcher is observed if undici publishes bodies, otherwise a warning says what to do', async () => {
    const agent = new undici.Agent({ connections: 4 })
    onTestFinished(() => agent.close())
    const { client, recorder } = await setScene(
      reply,
      (url) =>
        new OpenAI({
          apiKey: 'sk-test',
          baseURL: `${url}/v1`,
          fetch: undici.fetch as never,
          fetchOptions: { dispatcher: agent } as never,
        }),
      { isBuiltBefore: true },
    )
    const answer = await inAction('ask', async () =>
      client.chat.completions.create({ model: 'gpt-4o', messages: [{ role: 'user', content: 'Hi' }] }),
    )
    expect(answer.choices[0]!.message.content).toBe(tornText)
    const stream = await client.chat.completions.create({
      model: 'gpt-4o',
      messages: [{ role: 'user', content: 'Hi' }],
      stream: true,
    })
    for await (const _chunk of stream) continue
    if (isAnnounced) {
      expect(recorder.reports).toEqual([])
      expect(recorder.calls().map(({ step }) => [step.outputPreview, step.depth])).toEqual([
        [tornText, 1],
        [tornText, 0],
      ])
    } else {
      const host = new URL(client.baseURL).host
      expect(recorder.reports).toEqual([
        `Calls to ${host} are not recorded, because the client uses its own dispatcher from undici older than 7.11. ` +
          'Wrap the client: playhead.wrapOpenAI(client).',
      ])
      expect(recorder.calls()).toEqual([])
      expect(recorder.counts()).toEqual({ captured: 0, failed: 2 })
    }
  })

  test.runIf(isAnnounced)(
    'the first request with a text body and its own dispatcher is recorded',
    async () => {
      const { client: url, recorder } = await setScene(reply, noClient)
      const agent = new undici.Agent()
      onTestFinished(() => agent.close())
      const init = { ...post(question), dispatcher: agent } as never
      for (const count of [1, 2]) {
        await (await undici.request(`${url}/v1/chat/completions`, init)).body.json()
        expect(recorder.calls().map(({ step }) => step.outputPreview)).toEqual(Array(count).fill(tornText))
      }
    },
  )

  test('a global dispatcher that is set later is hooked', async () => {
    const { client: url, recorder } = await setScene(reply, noClient)
    const agent = new undici.Agent()
    onTestFinished(() => agent.close())
    undici.setGlobalDispatcher(agent as never)
    for (let index = 0; index < 3; index++)
      await (await fetch(`${url}/v1/chat/completions`, post(question))).json()
    // The first request is missed if undici does not publish bodies.
    expect(recorder.calls()).toHaveLength(isAnnounced ? 3 : 2)
    for (const { step } of recorder.calls()) expect(step.outputPreview).toBe(tornText)
  })

  test('a request through a composed dispatcher is one call', async () => {
    const agent = new undici.Agent()
    onTestFinished(() => agent.close())
    undici.setGlobalDispatcher(
      agent.compose((dispatch) => (options, handler) => dispatch(options, handler)) as never,
    )
    const { client: url, recorder } = await setScene(reply, noClient)
    await (await fetch(`${url}/v1/chat/completions`, post(streamed))).text()
    await (await undici.fetch(`${url}/v1/chat/completions`, post(question) as never)).text()
    expect(recorder.calls()).toHaveLength(2)
    for (const { step } of recorder.calls()) expect(step.outputPreview).toBe(tornText)
  })

  test('the attempts of a retrying dispatcher are one call', async () => {
    let attempts = 0
    const agent = new undici.Agent()
    onTestFinished(() => agent.close())
    undici.setGlobalDispatcher(
      new undici.RetryAgent(agent, {
        minTimeout: 1,
        maxTimeout: 1,
        methods: ['POST'],
        retryAfter: false,
      }) as never,
    )
    const { client: url, recorder } = await setScene(
      () => ((attempts += 1) === 1 ? { error: { status: 503 } } : reply()),
      noClient,
    )
    const response = await undici.request(`${url}/v1/chat/completions`, post(question) as never)
    expect(await response.body.json()).toMatchObject({ object: 'chat.completion' })
    expect(attempts).toBe(2)
    expect(recorder.calls().map(({ step }) => step.status)).toEqual(['ok'])
  })

  test('its mocks still work', async () => {
    const mock = new undici.MockAgent()
    mock.disableNetConnect()
    onTestFinished(() => mock.close())
    const answer = {
      id: 'mocked',
      model: 'gpt-4o',
      choices: [{ message: { content: 'Mocked.' }, finish_reason: 'stop' }],
    }
    mock
      .get('http://model.test')
      .intercept({ path: '/v1/chat/completions', method: 'POST' })
      .reply(200, answer)
    undici.setGlobalDispatcher(mock as never)
    const { recorder } = await setScene(reply, noClient)
    const response = await undici.fetch('http://model.test/v1/chat/completions', post(question) as never)
    expect(await response.json()).toEqual(answer)
    expect(recorder.call().step.outputPreview).toBe('Mocked.')
  })
})

test('without a dispatcher, fetch itself is hooked, and a call is still counted once', async () => {
  const capture = new ActiveCapture({
    tracer: () => tracer,
    content: true,
    redactText: (text) => text,
    maxValueBytes: 100_000,
    report: () => {},
    isOwnRequest: () => false,
  })
  const recorder = startRecorder()
  recorder.uninstall()
  const watched = new WatchedRequests()
  const before = globalThis.fetch
  const unhook = hookFetch(capture, watched)
  const watcher = new UndiciHook({ capture, watched, onUnwatched: () => {} })
  setActiveCapture(capture)
  onTestFinished(() => {
    unhook()
    watcher.uninstall()
    setActiveCapture(undefined)
  })
  const model = await startModel(({ userText }) =>
    userText === 'fail'
      ? { error: { status: 400, message: 'No.' } }
      : { ...reply(), chunkDelayMs: 2, encoding: 'gzip' },
  )
  const client = new OpenAI({ apiKey: 'sk-test', baseURL: `${model.url}/v1`, maxRetries: 0 })
  const ask = (content: string) => ({ model: 'gpt-4o', messages: [{ role: 'user' as const, content }] })
  const { response } = await client.chat.completions.create(ask('Hi')).withResponse()
  expect(response.url).toBe(`${model.url}/v1/chat/completions`)
  let text = ''
  for await (const chunk of await client.chat.completions.create({ ...ask('Hi'), stream: true }))
    text += chunk.choices[0]?.delta.content ?? ''
  expect(text).toBe(tornText)
  await expect(client.chat.completions.create(ask('fail'))).rejects.toThrow('400 No.')
  for await (const chunk of await client.chat.completions.create({ ...ask('Hi'), stream: true }))
    if (chunk.choices[0]?.delta.content) break
  const controller = new AbortController()
  controller.abort()
  await expect(client.chat.completions.create(ask('Hi'), { signal: controller.signal })).rejects.toThrow(
    /abort/i,
  )
  await expect.poll(() => recorder.calls().length).toBe(4)
  expect(recorder.calls().map(({ step }) => [step.status, step.outputPreview])).toEqual([
    ['ok', tornText],
    ['ok', tornText],
    ['error', undefined],
    ['ok', 'Grüße'],
  ])
  unhook()
  expect(globalThis.fetch).toBe(before)
})
