import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Session } from '@playhead/model'
import type { EncodedSpans } from '../src/ingest/span-thread.ts'
import { IngestThread } from '../src/ingest/thread/ingest-thread.ts'
import { otlpFolders, otlpRequests } from './fixtures.ts'
import { hex, tracesPayload, type SpanOptions } from './otlp.ts'
import { startTestServer, type TestServer } from './test-server.ts'

const NOW = Date.now()

let server: TestServer
let thread: IngestThread
/** What another thread has encoded. */
let encoded: EncodedSpans[] = []

beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.stop())

/** From now on, another thread reads whatever it can. */
async function startThread(): Promise<void> {
  await (server.services.pipeline.thread as IngestThread).close()
  thread = new IngestThread((line) => server.reports.push(line), { busyBytes: 1 })
  const { encode } = thread
  encoded = []
  thread.encode = async (...given) => {
    const encoding = await encode.apply(thread, given)
    if (encoding.encoded !== undefined) encoded.push(encoding.encoded)
    return encoding
  }
  server.services.pipeline.thread = thread
  await post(tracesPayload([span()]))
  await expect.poll(() => thread.isRunning).toBe(true)
}

async function newProject(id: string): Promise<string> {
  await server.services.registry.createProject({ id, name: id })
  return id
}

const post = (payload: object, project = 'default') =>
  server.request('/v1/traces', { json: payload, headers: { 'x-playhead-project': project } })

/** A span of more than 4 KB: smaller requests are not worth a thread. */
const span = (options: Partial<SpanOptions> = {}): SpanOptions => ({
  traceId: hex(16),
  spanId: hex(8),
  name: 'chat gpt-4o',
  startMs: NOW - 60_000,
  endMs: NOW - 59_000,
  ...options,
  attributes: {
    'gen_ai.operation.name': 'chat',
    'gen_ai.request.model': 'gpt-4o',
    'gen_ai.usage.input_tokens': 1_000_000,
    'gen_ai.usage.output_tokens': 0,
    'gen_ai.input.messages': JSON.stringify([
      { role: 'user', parts: [{ type: 'text', content: 'A long question, “quoted” 🚀. '.repeat(200) }] },
    ]),
    ...options.attributes,
  },
})

async function sessionsOf(project: string): Promise<Session[]> {
  const listed = await server.sessions(`project=${project}&limit=1000`)
  const opened = await Promise.all(
    listed.map(({ id }) => server.session(id, `project=${project}&payloads=all`)),
  )
  return JSON.parse(JSON.stringify(opened).replaceAll(`project=${project}`, 'project=p')) as Session[]
}

test('what another thread reads is stored as if it had been read here', async () => {
  const folders = otlpFolders()
  const send = async (prefix: string) => {
    for (const folder of folders) {
      const project = await newProject(`${prefix}-${folders.indexOf(folder)}`)
      for (const { path, contentType, body } of otlpRequests(folder)) {
        const response = await server.request(path, {
          method: 'POST',
          headers: { 'content-type': contentType, 'x-playhead-project': project },
          body: new Uint8Array(body),
        })
        expect(response.status).toBe(200)
      }
    }
  }
  await send('here')
  await startThread()
  await send('there')
  expect(encoded.length).toBeGreaterThan(10)
  for (const index of folders.keys())
    expect(await sessionsOf(`there-${index}`)).toEqual(await sessionsOf(`here-${index}`))
})

test('new prices count from the next request on', async () => {
  const project = await newProject('prices')
  const costs = async () => new Set((await server.sessions(`project=${project}`)).map(({ cost }) => cost))
  encoded = []
  await post(tracesPayload([span()]), project)
  await server.services.registry.updateProject(project, {
    priceOverrides: [{ model: 'gpt-4o', inputPerMillion: 77, outputPerMillion: 0 }],
  })
  await post(tracesPayload([span()]), project)
  expect(encoded).toHaveLength(2)
  expect(await costs()).toEqual(new Set([2.5, 77]))
})

test('a request that can be read only in part, or not at all, is answered as always', async () => {
  const bad = { ...span(), traceId: 'ab' }
  const partly = await post(tracesPayload([span(), bad]))
  expect(await partly.json()).toMatchObject({
    partialSuccess: { rejectedSpans: '1', errorMessage: expect.stringContaining('trace id') },
  })
  const response = await server.request('/v1/traces', {
    method: 'POST',
    headers: { 'content-type': 'application/x-protobuf' },
    body: new Uint8Array(10_000).fill(0xff),
  })
  expect(response.status).toBe(400)
})

test('many requests at once are all stored, by whichever thread', async () => {
  const project = await newProject('many')
  encoded = []
  const sent = await Promise.all(
    Array.from({ length: 60 }, () => post(tracesPayload(Array.from({ length: 20 }, () => span())), project)),
  )
  expect(sent.every(({ status }) => status === 200)).toBe(true)
  expect(encoded.length).toBeGreaterThan(5)
  expect(await server.sessions(`project=${project}&limit=1000`)).toHaveLength(1_000)
  expect(server.reports).toEqual([])
})

test('a request that takes much memory is read here, whole', async () => {
  const project = await newProject('heavy')
  encoded = []
  const lists = { arrayValue: { values: Array.from({ length: 40_000 }, () => ({ arrayValue: {} })) } }
  const payload = tracesPayload([span()]) as {
    resourceSpans: { scopeSpans: { spans: { attributes: { key: string; value: unknown }[] }[] }[] }[]
  }
  const { attributes } = payload.resourceSpans[0]!.scopeSpans[0]!.spans[0]!
  attributes.push({ key: 'lists', value: lists })
  expect((await post(payload, project)).status).toBe(200)
  expect(encoded).toEqual([])
  const [read] = await sessionsOf(project)
  expect(read?.steps[0]?.attributes?.['lists']).toHaveLength(40_000)
  expect([thread.isRunning, server.reports]).toEqual([true, []])
})

test('if the thread ends, its requests are refused and the next ones are read here', async () => {
  await startThread()
  server.reports.length = 0
  const { encode } = thread
  let killed: Promise<void> | undefined
  thread.encode = (...given) => {
    const encoding = encode.apply(thread, given)
    if (thread.waiting > 0) killed ??= thread.kill()
    return encoding
  }
  const sent = await Promise.all(
    Array.from({ length: 12 }, () => post(tracesPayload(Array.from({ length: 200 }, () => span())))),
  )
  await killed
  expect(new Set(sent.map(({ status }) => status))).toEqual(new Set([200, 503]))
  expect(server.reports).toEqual([expect.stringContaining('The thread that reads spans ended')])
  expect(thread.isRunning).toBe(false)
  expect((await post(tracesPayload([span()]))).status).toBe(200)
})
