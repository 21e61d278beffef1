import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { seededRandom } from './seeded-random.ts'
import { SpawnedServer } from './spawned-server.ts'
import { expectEverythingStored } from './stored-traffic.ts'
import { Traffic } from './traffic.ts'

/** What a server reports when its engine is killed. */
const killLines = [
  /^playhead: the embedded engine exited \(SIGKILL\); restarting it$/,
  /^playhead: could not start the embedded engine: it exited with SIGKILL$/,
  // A write that was killed halfway: never acknowledged.
  /^playhead: segment \d+ of the log of \w+ ends in an incomplete write of \d+ bytes\./,
  /^playhead: could not (flush segment \d+, will retry|save when keys were last used|save how much was sent today|save how often links were opened): (socket hang up|connect (ENOENT|ECONNREFUSED)|read ECONNRESET|write EPIPE)/,
]

const ACKS_BEFORE_KILL = 20
/** `CRASH_KILLS=40` tries longer. */
const KILLS = Number(process.env.CRASH_KILLS ?? 4)

function chooseSeed(): number {
  const seed = Number(process.env.CRASH_SEED ?? Date.now() % 2 ** 31)
  console.log(`CRASH_SEED=${seed} reproduces the moments of the kills`)
  return seed
}

test(`after ${KILLS} × kill -9 of the server during ingest, every acknowledged span is stored exactly once`, async () => {
  const random = seededRandom(chooseSeed())
  const server = await SpawnedServer.forThisTest()
  const traffic = new Traffic({ url: server.url, random, connections: 6, maxSessions: 400, maxPauseMs: 20 })
  await server.start()
  traffic.start()
  const reads = startReading(server)
  for (let kill = 0; kill < KILLS; kill++) {
    // One in four is killed while it starts: recovery has to survive that too.
    if (kill % 4 !== 3) await acknowledged(traffic, ACKS_BEFORE_KILL)
    await pause(random() * 300)
    await server.end('SIGKILL')
    server.launch()
  }
  await server.waitUntilReady()
  await traffic.finish()
  const statuses = await reads.stop()

  await expectEverythingStored(server, traffic)
  expect(unexpectedStatuses(statuses)).toEqual([])
  expect(server.unexpectedLines(killLines)).toEqual([])
}, 300_000)

test(`after ${KILLS} × kill -9 of the engine during ingest, every acknowledged span is stored exactly once, and reads never fail with 500`, async () => {
  const random = seededRandom(chooseSeed())
  const server = await SpawnedServer.forThisTest()
  await server.start()
  // An earlier run of the server: its segments must not be mistaken for new ones.
  const before = new Traffic({ url: server.url, random, connections: 6, maxSessions: 60 })
  before.start()
  await before.finish()
  await server.end('SIGTERM')
  await server.start()
  const traffic = new Traffic({ url: server.url, random, connections: 6, maxSessions: 400, maxPauseMs: 20 })
  const reads = startReading(server)
  traffic.start()
  let engine: number | undefined
  for (let kill = 0; kill < KILLS; kill++) {
    // One in four is killed while it starts.
    if (kill % 4 !== 3) await expect.poll(() => server.isReady()).toBe(true)
    await pause(random() * 300)
    engine = await killEngine(server, engine)
  }
  await expect.poll(() => server.isReady()).toBe(true)
  await traffic.finish()
  const statuses = await reads.stop()

  traffic.sessions.push(...before.sessions)
  await expectEverythingStored(server, traffic)
  expect(unexpectedStatuses(statuses)).toEqual([])
  expect(server.unexpectedLines(killLines)).toEqual([])
}, 300_000)

/** Waits for this many more acknowledged requests, so that a kill hits the middle of ingest. */
async function acknowledged(traffic: Traffic, count: number): Promise<void> {
  const before = traffic.acknowledgedRequests
  await expect
    .poll(() => traffic.acknowledgedRequests - before, { interval: 5 })
    .toBeGreaterThanOrEqual(count)
}

/** Kills the engine as soon as there is a new one; returns its pid. */
async function killEngine(server: SpawnedServer, previous: number | undefined): Promise<number> {
  const isNew = (pid: number | undefined) => pid !== undefined && pid !== previous
  let pid = server.enginePid()
  for (; !isNew(pid); pid = server.enginePid()) await pause(20)
  process.kill(pid!, 'SIGKILL')
  return pid!
}

test('the next server starts even if the engine of a killed server holds the folder for a while', async () => {
  const server = await SpawnedServer.forThisTest()
  await server.start()
  const engine = server.enginePid()!
  process.kill(engine, 'SIGSTOP')
  await server.end('SIGKILL')
  server.launch()
  // A second engine process means that the first one found the folder in use and gave up.
  const attempts = new Set<number>()
  const countAttempts = () => {
    const pid = server.enginePid()
    return pid === undefined ? attempts.size : attempts.add(pid).size
  }
  await expect.poll(countAttempts, { interval: 20 }).toBeGreaterThan(1)
  process.kill(engine, 'SIGCONT')

  await server.waitUntilReady()

  expect(server.unexpectedLines(killLines)).toEqual([])
})

/** Reads the list continuously and counts the status codes; 0 means no response. */
function startReading(server: SpawnedServer): { stop: () => Promise<Map<number, number>> } {
  const end = new AbortController()
  const statuses = new Map<number, number>()
  const read = async () => {
    const response = await server.request('/api/sessions?limit=20')
    await response.arrayBuffer()
    return response.status
  }
  const readOn = async () => {
    while (!end.signal.aborted) {
      const status = await read().catch(() => 0)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      await pause(100)
    }
  }
  const reading = readOn()
  return {
    async stop() {
      end.abort()
      await reading
      console.log('responses to readers:', Object.fromEntries(statuses))
      return statuses
    },
  }
}

function unexpectedStatuses(statuses: Map<number, number>): number[] {
  return [...statuses.keys()].filter((status) => ![0, 200, 503].includes(status))
}
