import http from 'node:http'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import { text as readText } from 'node:stream/consumers'
import { setImmediate as nextTurn } from 'node:timers/promises'
import axios from 'axios'
import { describe, expect, onTestFinished, test } from 'vitest'
import { setScene, startModel, tornText } from './scene.ts'

const nativeFetch = globalThis.fetch
const requestTakenBefore = http.request

const question = { model: 'gpt-4o', messages: [{ role: 'user', content: 'Hi' }] }
const reply = () => ({ id: 'chatcmpl-1', text: tornText, usage: { input: 10, output: 9 } })

function ask(url: string, init: RequestInit = {}): Promise<Response> {
  return nativeFetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer sk-very-secret' },
    body: JSON.stringify(question),
    ...init,
  })
}

const noClient = (url: string) => url

describe('fetch', () => {
  test('a reference to fetch that was taken before is observed, and its secrets are not recorded', async () => {
    const { client: url, recorder } = await setScene(reply, noClient)
    const response = await ask(url)
    expect(response.url).toBe(`${url}/v1/chat/completions`)
    expect(await response.json()).toMatchObject({ id: 'chatcmpl-1' })
    const { span, step } = recorder.call()
    expect(step).toMatchObject({ outputPreview: tornText, usage: { input: 10, output: 9 } })
    expect(JSON.stringify(span.attributes)).not.toContain('secret')
  })

  test.each([
    ['bytes', () => new TextEncoder().encode(JSON.stringify(question))],
    ['a blob', () => new Blob([JSON.stringify(question)])],
    [
      'a stream',
      () =>
        new ReadableStream({
          start(controller) {
            for (const piece of JSON.stringify(question).match(/.{1,9}/gs)!)
              controller.enqueue(new TextEncoder().encode(piece))
            controller.close()
          },
        }),
    ],
  ])('records a body of %s', async (_name, body) => {
    const { client: url, recorder } = await setScene(reply, noClient)
    await (await ask(url, { body: body(), duplex: 'half' })).json()
    expect(recorder.call().content.messages![0]!.parts).toEqual([{ type: 'text', text: 'Hi' }])
  })

  test('records a Request', async () => {
    const { client: url, recorder } = await setScene(reply, noClient)
    const request = new Request(`${url}/v1/chat/completions`, {
      method: 'POST',
      body: JSON.stringify(question),
    })
    await (await nativeFetch(request)).json()
    expect(recorder.call().step.model).toBe('gpt-4o')
  })

  test('other requests are not recorded', async () => {
    const { client: url, recorder } = await setScene(reply, noClient)
    const form = new FormData()
    form.set('model', 'whisper-1')
    const post = (path: string, body: unknown) =>
      nativeFetch(`${url}${path}`, { method: 'POST', body: JSON.stringify(body) })
    const responses = await Promise.all([
      nativeFetch(`${url}/v1/models`),
      nativeFetch(`${url}/v1/chat/completions`, { method: 'POST', body: form }),
      nativeFetch(`${url}/v1/chat/completions`, { method: 'POST', body: 'not json' }),
      post('/v1/responses', { survey: 'yes' }),
      post('/api/messages', { messages: ['a chat of people'] }),
      // The chat endpoint of an application, as the AI SDK's front end calls it.
      post('/api/chat', { id: 'c1', model: 'gpt-4o', messages: [], trigger: 'submit-message' }),
      post('/v1/embeddings/search', { model: 'x', input: 'y' }),
      nativeFetch(`${url}/v1/messages/batches`, { method: 'POST', body: '{}' }),
    ])
    await Promise.all(responses.map((response) => response.text()))
    expect(recorder.steps()).toEqual([])
    expect(recorder.counts()).toEqual({ captured: 0, failed: 0 })
  })

  test('requests of the SDK itself are not recorded', async () => {
    const { client: url, recorder } = await setScene(reply, noClient, {
      capture: { isOwnRequest: ({ pathname }) => pathname.startsWith('/v1/chat') },
    })
    await (await ask(url)).text()
    expect(recorder.steps()).toEqual([])
  })

  test('the caller reads the bytes that the server sent', async () => {
    const { client: url, recorder, model } = await setScene(() => ({ ...reply(), sliceBytes: 31 }), noClient)
    const response = await ask(url, { body: JSON.stringify({ ...question, stream: true }) })
    const received: Uint8Array[] = []
    for await (const chunk of response.body!) received.push(chunk)
    expect(Buffer.concat(received).equals(Buffer.concat(model.requests[0]!.sentBytes))).toBe(true)
    expect(recorder.call().step.outputPreview).toBe(tornText)
  })

  test.each(['gzip', 'br', 'deflate'] as const)(
    'reads a copy of a body that is compressed with %s',
    async (encoding) => {
      const { client: url, recorder } = await setScene(
        () => ({ ...reply(), encoding, sliceBytes: 19, chunkDelayMs: 1 }),
        noClient,
      )
      expect(await (await ask(url)).json()).toMatchObject({ id: 'chatcmpl-1' })
      expect(recorder.call().step).toMatchObject({ outputPreview: tornText, usage: { input: 10 } })
      recorder.reset()
      const stream = { ...question, stream: true, stream_options: { include_usage: true } }
      expect(await (await ask(url, { body: JSON.stringify(stream) })).text()).toContain('[DONE]')
      const { step, content } = recorder.call()
      expect(step).toMatchObject({ outputPreview: tornText, usage: { input: 10 } })
      expect(content.streaming!.chunks!.map(([, piece]) => piece).join('')).toBe(tornText)
      expect(recorder.counts().failed).toBe(0)
    },
  )

  test('a stream that the server cuts off is an error with what was received', async () => {
    const script = () => ({ text: 'one two three four', cutAfterEvents: 4, chunkDelayMs: 3 })
    const body = JSON.stringify({ ...question, stream: true })
    const read = async (url: string) => {
      let seen = ''
      try {
        const response = await ask(url, { body })
        for await (const chunk of response.body!) seen += new TextDecoder().decode(chunk)
        return { seen }
      } catch (error) {
        const { name, message, cause } = error as Error
        return { seen, name, message, cause: (cause as Error).name }
      }
    }
    const withoutIds = ({ seen, ...rest }: { seen: string }) => ({
      ...rest,
      seen: seen.replaceAll(/reply-\d+/g, ''),
    })
    const bare = await read((await startModel(script)).url)
    const { client: url, recorder } = await setScene(script, noClient)
    expect(withoutIds(await read(url))).toEqual(withoutIds(bare))
    const { step, content } = recorder.call()
    expect(step).toMatchObject({
      status: 'error',
      outputPreview: 'one two three',
      error: { type: 'UND_ERR_SOCKET' },
    })
    expect(content.attributes['playhead.stream.aborted']).toBe(true)
  })

  test('a response that is not JSON, and one that is incomplete', async () => {
    const { client: url, recorder } = await setScene(() => ({ isMalformed: true }), noClient)
    await expect((await ask(url)).json()).rejects.toThrow(SyntaxError)
    expect(recorder.call().step).toMatchObject({ status: 'error', error: { type: 'malformed_response' } })
    recorder.reset()
    const nowhere = new URL(url)
    nowhere.port = '1'
    const error = await ask(nowhere.origin, { redirect: 'error' }).catch((caught: unknown) => caught as Error)
    expect((error as Error).message).toMatch(/fetch failed|bad port/)
  })

  test('a refused connection is an error with its code', async () => {
    const model = await startModel()
    await model.stop()
    const { recorder } = await setScene(reply, noClient)
    const error = await ask(model.url).catch((caught: unknown) => caught as Error)
    expect(error).toMatchObject({
      name: 'TypeError',
      message: 'fetch failed',
      cause: { code: 'ECONNREFUSED' },
    })
    expect(recorder.call().step).toMatchObject({
      kind: 'llm',
      status: 'error',
      error: { type: 'ECONNREFUSED' },
    })
  })

  test('a call that is aborted before the response is an error, and the host gets its own reason', async () => {
    const {
      client: url,
      recorder,
      model,
    } = await setScene(() => ({ text: 'Late.', delayMs: 60_000 }), noClient)
    const controller = new AbortController()
    const reason = new Error('changed my mind')
    const response = ask(url, { signal: controller.signal })
    response.catch(() => undefined)
    await expect.poll(() => model.requests.length).toBe(1)
    controller.abort(reason)
    await expect(response).rejects.toBe(reason)
    await expect.poll(() => recorder.calls().length).toBe(1)
    expect(recorder.call().step).toMatchObject({ status: 'error', model: 'gpt-4o' })
  })

  test('cancelling a body also ends the request at the server', async () => {
    const {
      client: url,
      recorder,
      model,
    } = await setScene(() => ({ text: 'one two three four five six', chunkDelayMs: 5 }), noClient)
    const response = await ask(url, { body: JSON.stringify({ ...question, stream: true }) })
    const reader = response.body!.getReader()
    await reader.read()
    await reader.cancel()
    await expect.poll(() => model.requests[0]!.isAborted).toBe(true)
    await expect.poll(() => recorder.calls().length).toBe(1)
    expect(recorder.call().content.attributes['playhead.stream.aborted']).toBe(true)
  })

  test('backpressure still works: a body that nobody reads does not fill up memory', async () => {
    const chunks = Array.from({ length: 400 }, () => 'x'.repeat(20_000))
    const { client: url, model } = await setScene(() => ({ chunks }), noClient)
    const response = await ask(url, { body: JSON.stringify({ ...question, stream: true }) })
    const sentChunks = () => model.requests[0]!.sentBytes.length
    for (let before = -1; before !== sentChunks();) {
      before = sentChunks()
      for (let turn = 0; turn < 200; turn += 1) await nextTurn()
    }
    expect(sentChunks()).toBeLessThan(300)
    await response.body!.cancel()
  })
})

describe('node:http', () => {
  test('axios is observed, whole and streamed', async () => {
    const { client: url, recorder } = await setScene(() => ({ ...reply(), encoding: 'gzip' }), noClient)
    const { data } = await axios.post(`${url}/v1/chat/completions`, question, { adapter: 'http' })
    expect(data).toMatchObject({ id: 'chatcmpl-1' })
    const stream = await axios.post(
      `${url}/v1/chat/completions`,
      { ...question, stream: true, stream_options: { include_usage: true } },
      { adapter: 'http', responseType: 'stream' },
    )
    expect(await readText(stream.data)).toContain('[DONE]')
    expect(recorder.calls().map(({ step }) => [step.outputPreview, step.usage?.input, step.status])).toEqual([
      [tornText, 10, 'ok'],
      [tornText, 10, 'ok'],
    ])
  })

  test('axios keeps its errors and cancellations', async () => {
    const {
      client: url,
      recorder,
      model,
    } = await setScene(
      ({ userText }) =>
        userText === 'Hi' ? { error: { status: 401, message: 'No key.' } } : { delayMs: 60_000 },
      noClient,
    )
    const post = (content: string, signal?: AbortSignal) =>
      axios.post(
        `${url}/v1/chat/completions`,
        { ...question, messages: [{ role: 'user', content }] },
        { adapter: 'http', ...(signal && { signal }) },
      )
    await expect(post('Hi')).rejects.toMatchObject({ response: { status: 401 } })
    const controller = new AbortController()
    const response = post('wait', controller.signal)
    response.catch(() => undefined)
    await expect.poll(() => model.requests.length).toBe(2)
    controller.abort()
    await expect(response).rejects.toMatchObject({ code: 'ERR_CANCELED' })
    await expect.poll(() => recorder.calls().length).toBe(2)
    expect(recorder.calls().map(({ step }) => [step.status, step.error?.message])).toEqual([
      ['error', 'No key.'],
      ['error', expect.any(String)],
    ])
  })

  test('a reference to request that was taken before is observed; paused and aborted responses work as usual', async () => {
    const { client: url, recorder } = await setScene(
      () => ({ text: 'one two three four five', chunkDelayMs: 4 }),
      noClient,
    )
    const send = (body: object) =>
      new Promise<http.IncomingMessage>((resolve, reject) => {
        const request = requestTakenBefore(`${url}/v1/chat/completions`, { method: 'POST' }, resolve)
        request.on('error', reject)
        request.write(JSON.stringify(body).slice(0, 10))
        request.end(JSON.stringify(body).slice(10), 'utf8')
      })
    expect(JSON.parse(await readText(await send(question)))).toMatchObject({ object: 'chat.completion' })
    const response = await send({ ...question, stream: true })
    for await (const chunk of response) if (String(chunk).includes('two')) break
    await expect.poll(() => recorder.calls().length).toBe(2)
    const [whole, broken] = recorder.calls()
    expect(whole!.step).toMatchObject({ status: 'ok', outputPreview: 'one two three four five' })
    expect(broken!.step).toMatchObject({ status: 'ok', outputPreview: 'one two' })
    expect(broken!.content.attributes['playhead.stream.aborted']).toBe(true)
  })

  test('a response that the server cuts off is an error with what was received', async () => {
    const { client: url, recorder } = await setScene(
      () => ({ text: 'one two three four', cutAfterEvents: 3, chunkDelayMs: 3 }),
      noClient,
    )
    const stream = await axios.post(
      `${url}/v1/chat/completions`,
      { ...question, stream: true },
      { adapter: 'http', responseType: 'stream' },
    )
    await expect(readText(stream.data)).rejects.toThrow('aborted')
    await expect.poll(() => recorder.calls().length).toBe(1)
    const { step, content } = recorder.call()
    expect(step).toMatchObject({ status: 'error', outputPreview: 'one two', error: { type: 'ECONNRESET' } })
    expect(content.attributes['playhead.stream.aborted']).toBe(true)
  })

  test('https.request is observed', async () => {
    const psk = { psk: Buffer.from('0123456789abcdef'), identity: 'test' }
    const tls = { ciphers: 'PSK+HIGH', maxVersion: 'TLSv1.2' } as const
    const answer = {
      id: 'chatcmpl-9',
      model: 'gpt-4o',
      choices: [{ message: { content: 'Safe.' }, finish_reason: 'stop' }],
    }
    const server = https.createServer({ ...tls, pskCallback: () => psk.psk }, (request, response) => {
      request.resume().on('end', () => response.end(JSON.stringify(answer)))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo
    const { recorder } = await setScene(reply, noClient)
    const body = await new Promise<string>((resolve, reject) => {
      const options = { ...tls, pskCallback: () => psk, checkServerIdentity: () => undefined, method: 'POST' }
      const request = https.request(`https://127.0.0.1:${port}/v1/chat/completions`, options, (response) => {
        readText(response).then(resolve, reject)
      })
      request.on('error', reject)
      request.end(JSON.stringify(question))
    })
    expect(JSON.parse(body)).toEqual(answer)
    const { step, content } = recorder.call()
    expect(step).toMatchObject({ responseId: 'chatcmpl-9', outputPreview: 'Safe.' })
    expect(content.attributes['server.port']).toBe(port)
  })
})
