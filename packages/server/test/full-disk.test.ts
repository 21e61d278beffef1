import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { SessionSummary } from '@playhead/model'
import { spansToOtlpProtobuf } from '../src/ingest/otlp-protobuf/spans-to-otlp-protobuf.ts'
import { spanWith } from '../src/ingest/test/sample-span.ts'
import { hex, tracesPayload } from './otlp.ts'
import { seededRandom } from './seeded-random.ts'
import { SmallDisk } from './small-disk.ts'
import { SpawnedServer } from './spawned-server.ts'
import { Traffic } from './traffic.ts'

const disk = SmallDisk.create(192)
if (disk === undefined) {
  const message =
    'full-disk.test.ts needs a small filesystem, and this user may not mount a tmpfs (neither as root nor with sudo -n).'
  // On machines where mounting is known to be impossible, the suite can be skipped explicitly.
  if (process.env.CI === 'true' && process.env.PLAYHEAD_NO_MOUNT !== '1') {
    throw new Error(`${message} Set PLAYHEAD_NO_MOUNT=1 to skip these tests.`)
  }
  console.error(`\n*** SKIPPED: ${message} ***\n`)
}

const fullDiskLines = [
  /^playhead: could not flush segment \d+, will retry: .*(not enough space|no space left|ENOSPC)/i,
  /^playhead: could not save (when keys were last used|how much was sent today|how often links were opened): .*(not enough space|socket hang up|ECONN|ENOENT|EPIPE)/i,
  // What happens when the disk fills up during a write.
  /^playhead: the disk filled up during a write and left an incomplete part/,
  /^playhead: the embedded engine exited \(SIGKILL\); restarting it/,
  /^playhead: could not flush segment \d+, will retry: (socket hang up|.*ECONNRE)/,
]

const noFileLeft = /could not start the embedded engine: .*ENOSPC/

describe.skipIf(disk === undefined)('a full disk', () => {
  afterAll(() => disk?.remove())

  test('refuses new spans, still serves reads, and accepts spans again once there is room', async () => {
    const server = await SpawnedServer.forThisTest({ PLAYHEAD_DATA: join(disk!.path, 'one') })
    await server.start()
    const stored = await storeSessions(server, 20)
    expect(await listedIds(server)).toEqual([...stored].sort())

    disk!.fill()
    const refusal = await postUntilRefused(server, stored)
    expect(refusal).toEqual({
      status: 503,
      retryAfter: '10',
      error: { code: 'DISK_FULL', message: expect.stringMatching(/disk is full.*Free some space/) as string },
    })
    const key = await server.request('/api/keys', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"name":"CI","scopes":["ingest"]}',
    })
    expect([key.status, await key.json()]).toMatchObject([503, { error: { code: 'DISK_FULL' } }])
    const protobuf = await server.request('/v1/traces', {
      method: 'POST',
      headers: { 'content-type': 'application/x-protobuf' },
      body: new Uint8Array(spansToOtlpProtobuf([spanWith({ attributes: { text: 'x'.repeat(100_000) } })])),
    })
    expect([
      protobuf.status,
      protobuf.headers.get('content-type'),
      protobuf.headers.get('retry-after'),
    ]).toEqual([503, 'application/x-protobuf', '10'])
    expect(await protobuf.text()).toContain('disk is full')

    await expectReadable(server, [...stored].slice(0, 20))
    const object = await server.request('/v4/objects/upload/', {
      method: 'POST',
      headers: { authorization: `Bearer ${randomUUID()}`, 'content-type': 'application/json' },
      body: JSON.stringify({ body: 'x'.repeat(1_000_000) }),
    })
    expect(await object.json()).toMatchObject({ error: { code: 'DISK_FULL' } })

    disk!.makeRoom()
    await expect.poll(() => isAccepted(server, stored)).toBe(true)
    await expect.poll(() => server.filesInFlight()).toEqual([])
    expect(await listedIds(server)).toEqual([...stored].sort())
    expect(server.isAlive()).toBe(true)
    expect(server.unexpectedLines(fullDiskLines)).toEqual([])
  })

  test('is reported when a new server starts, which then exits', async () => {
    const server = await SpawnedServer.forThisTest({ PLAYHEAD_DATA: join(disk!.path, 'new') })
    disk!.fill()
    server.launch()
    await expect.poll(() => server.isAlive()).toBe(false)
    expect(server.unexpectedLines()).toEqual([
      expect.stringMatching(/^playhead: The disk is full.*Free some space/),
    ])

    disk!.makeRoom()
    await server.start()
    await storeSessions(server, 1)
  })

  test('that fills up during ingest loses nothing acknowledged, even if the server is killed', async () => {
    const server = await SpawnedServer.forThisTest({ PLAYHEAD_DATA: join(disk!.path, 'two') })
    await server.start()
    const traffic = new Traffic({
      url: server.url,
      random: seededRandom(7),
      connections: 4,
      maxSessions: 2_000,
    })
    disk!.fill(4 * 1024 * 1024)
    traffic.start()
    await expect.poll(() => traffic.failedRequests, { timeout: 90_000 }).toBeGreaterThan(20)

    await expectReadable(server, [])
    await server.end('SIGKILL')
    await server.start()
    await expectReadable(server, [])

    disk!.makeRoom()
    await traffic.finish()
    await expect.poll(() => server.filesInFlight()).toEqual([])
    expect(traffic.unexpected).toEqual([])
    const listed = new Map((await server.allSessions()).map((session) => [session.id, session.stepCount]))
    const acknowledged = traffic.sessions
      .filter((session) => session.isCertain)
      .map((session) => [session.id, session.spans.size] as const)
    expect(acknowledged.filter(([id, steps]) => listed.get(id) !== steps)).toEqual([])
    expect(server.unexpectedLines(fullDiskLines)).toEqual([])
  }, 300_000)

  test('without free inodes stops the engine from starting only until some are free', async () => {
    const server = await SpawnedServer.forThisTest({ PLAYHEAD_DATA: join(disk!.path, 'three') })
    await server.start()
    const stored = await storeSessions(server, 20)
    await expect.poll(() => server.filesInFlight()).toEqual([])

    disk!.useUpFiles()
    process.kill(server.enginePid()!, 'SIGKILL')
    const linesOnFullDisk = () => {
      // Every start attempt frees the files of the previous one. Use them up again before it needs them.
      disk!.useUpFiles()
      return server.unexpectedLines().join()
    }
    await expect.poll(linesOnFullDisk, { interval: 10 }).toMatch(noFileLeft)
    expect((await postUntilRefused(server, stored)).error).toEqual({
      code: 'DISK_FULL',
      message: expect.stringMatching(/no inodes: df -i.*Free some space/) as string,
    })
    expect((await server.request('/readyz')).status).toBe(503)

    disk!.makeRoom()
    await server.waitUntilReady()
    await expect.poll(() => isAccepted(server, stored)).toBe(true)
    await expect.poll(() => server.filesInFlight()).toEqual([])
    expect(await listedIds(server)).toEqual([...stored].sort())
    expect(server.unexpectedLines([...fullDiskLines, noFileLeft])).toEqual([])
  })
})

function oneSession(id: string, text: string) {
  return tracesPayload([
    { traceId: id, name: 'agent', endMs: Date.now(), startMs: Date.now(), attributes: { text } },
  ])
}

async function storeSessions(server: SpawnedServer, count: number): Promise<Set<string>> {
  const ids = new Set<string>()
  for (let index = 0; index < count; index++) {
    const id = hex(16)
    await server.postTraces(oneSession(id, 'before'))
    ids.add(id)
  }
  return ids
}

/** Rows that fit into the last page of an open file are still accepted; the rest is refused. */
async function postUntilRefused(server: SpawnedServer, stored: Set<string>) {
  for (;;) {
    const id = hex(16)
    const response = await post(server, oneSession(id, 'x'.repeat(50_000)))
    const body = (await response.json()) as { error?: { code: string; message: string } }
    if (response.status === 200) stored.add(id)
    else
      return { status: response.status, retryAfter: response.headers.get('retry-after'), error: body.error }
  }
}

async function isAccepted(server: SpawnedServer, stored: Set<string>): Promise<boolean> {
  const id = hex(16)
  const response = await post(server, oneSession(id, 'after'))
  await response.arrayBuffer()
  if (response.ok) stored.add(id)
  return response.ok
}

function post(server: SpawnedServer, payload: unknown): Promise<Response> {
  return server.request('/v1/traces', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(payload),
  })
}

async function expectReadable(server: SpawnedServer, ids: string[]): Promise<void> {
  for (const path of ['/healthz', '/readyz', '/api/sessions', '/api/stats', '/metrics']) {
    const response = await server.request(path)
    expect(`${path} ${response.status}`).toBe(`${path} 200`)
    await response.arrayBuffer()
  }
  const listed = await listedIds(server)
  expect(ids.filter((id) => !listed.includes(id))).toEqual([])
  for (const id of ids) expect((await server.session(id)).steps).toHaveLength(1)
}

async function listedIds(server: SpawnedServer): Promise<string[]> {
  return (await server.allSessions()).map((session: SessionSummary) => session.id).sort()
}
