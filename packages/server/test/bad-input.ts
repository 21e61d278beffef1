import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { spansToOtlpJson } from '@playhead/model'
import { spansToOtlpProtobuf } from '../src/ingest/otlp-protobuf/spans-to-otlp-protobuf.ts'
import { spanWith } from '../src/ingest/test/sample-span.ts'
import { hex } from './otlp.ts'
import { forgetPeak, memoryOf, SpawnedServer } from './spawned-server.ts'

export const MB = 1024 * 1024
export const JSON_TYPE = 'application/json'
export const PROTOBUF_TYPE = 'application/x-protobuf'

/** Far more than any of these needs, far less than one of them could demand. */
const MAX_RESIDENT_MB = 2_000

/** The server of the test file. It runs once the file calls `useBadInputServer`. */
export const server = await SpawnedServer.create()

/** Checks after every test that the server is alive, uses limited memory and accepts normal sessions. */
export function useBadInputServer(): void {
  beforeAll(async () => {
    // Another file may have used this module before.
    normalSessions.clear()
    await server.start()
  })
  afterAll(() => server.remove())

  beforeEach(() => forgetPeak(server.pid))
  afterEach(async ({ task }) => {
    expectAliveAndBounded(task.name)
    await postNormalSession()
  })
}

function expectAliveAndBounded(what: string): void {
  expect(server.isAlive()).toBe(true)
  const { peakMb, nowMb } = memoryOf(server.pid)
  console.log(`${peakMb} MB at most, ${nowMb} MB now: ${what}`)
  expect(peakMb).toBeLessThan(MAX_RESIDENT_MB)
}

export type Answer = { status: number; headers: Headers; text: string }

export async function post(
  body: Buffer | string,
  headers: Record<string, string>,
  path = '/v1/traces',
): Promise<Answer> {
  const response = await server.request(path, {
    method: 'POST',
    headers,
    body: typeof body === 'string' ? body : new Uint8Array(body),
  })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

export const postJson = (body: unknown, path?: string) =>
  post(typeof body === 'string' ? body : JSON.stringify(body), { 'content-type': JSON_TYPE }, path)
export const postProtobuf = (body: Buffer, path?: string) =>
  post(body, { 'content-type': PROTOBUF_TYPE }, path)

/** Expects an error in the format of JSON requests, with this status and code and a message. */
export function errorIn(answer: Answer): { status: number; code: string; message: string } {
  const { error } = JSON.parse(answer.text) as { error: { code: string; message: string } }
  expect(error.message.length).toBeGreaterThan(20)
  return { status: answer.status, code: error.code, message: error.message }
}

/** The same for protobuf: a google.rpc.Status, whose message is field 2. */
export function statusIn(answer: Answer): { status: number; contentType: string | null; message: string } {
  const bytes = Buffer.from(answer.text)
  expect(bytes[0]).toBe(0x12)
  return {
    status: answer.status,
    contentType: answer.headers.get('content-type'),
    message: bytes.subarray(bytes.length < 130 ? 2 : 3).toString(),
  }
}

export function countStatuses(answers: Answer[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

export async function metric(name: string): Promise<number> {
  const text = await (await server.request('/metrics')).text()
  return Number(new RegExp(`^playhead_${name} (\\d+)$`, 'm').exec(text)?.[1] ?? Number.NaN)
}

/** Ids of the normal sessions and their spans. One is sent after each test; the last test reads them all back. */
const normalSessions = new Map<string, string[]>()

/** Expects that a normal session is accepted. */
async function postNormalSession(): Promise<void> {
  const traceId = hex(16)
  const spans = [
    spanWith({ traceId, spanId: hex(8), name: 'agent' }),
    spanWith({
      traceId,
      spanId: hex(8),
      name: 'chat gpt-4o',
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.request.model': 'gpt-4o',
        'gen_ai.usage.input_tokens': 11,
        'gen_ai.usage.output_tokens': 7,
      },
    }),
  ]
  const answers = [
    await postProtobuf(spansToOtlpProtobuf(spans.slice(0, 1))),
    await postJson(spansToOtlpJson(spans.slice(1))),
  ]
  expect(answers.map(({ status, text }) => [status, text])).toEqual([
    [200, ''],
    [200, '{}'],
  ])
  normalSessions.set(
    traceId,
    spans.map((span) => span.spanId),
  )
}

/** The last two tests of a file. */
export function testThatNothingWasLost(): void {
  test('in the end everything is in the store, and nothing failed unexpectedly', async () => {
    await expect.poll(() => metric('log_pending_rows'), { timeout: 240_000 }).toBe(0)
    expect(await metric('failures_total')).toBe(0)
    expect(await metric('engine_restarts_total')).toBe(0)
    expect(server.unexpectedLines()).toEqual([])
    await expect.poll(() => server.filesInFlight()).toEqual([])
  }, 300_000)

  test('every normal session that was sent in between is whole', async () => {
    expect(normalSessions.size).toBeGreaterThan(5)
    await Promise.all(
      [...normalSessions].map(async ([id, spanIds]) => {
        const { session, steps } = await server.session(id)
        expect(steps.map((step) => step.id).sort()).toEqual(spanIds.toSorted())
        expect(session.usage).toMatchObject({ input: 11, output: 7 })
      }),
    )
  })
}
