import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { startClients } from '../../../../bench/server/clients.ts'
import { describeMachine } from '../../../../bench/harness/machine.ts'
import { writeBenchmarks } from '../../../../bench/write-benchmarks.ts'
import { seededRandom } from '../seeded-random.ts'
import { SmallDisk } from '../small-disk.ts'
import { SpawnedServer } from '../spawned-server.ts'
import { Traffic } from '../traffic.ts'
import { OtherClients } from './other-clients.ts'
import { faults, possibleFaults, type FaultName, type FaultTools } from './faults.ts'
import { compareLedger } from './ledger.ts'
import { findIncomplete, startHostileSdk } from './hostile-sdk-client.ts'
import { MemoryWatch } from './memory-watch.ts'
import { figuresOf, printSoak, type Soak } from './soak-report.ts'

const USAGE = `npm run soak -- [--minutes 10] [--seed 1] [--attackers 100] [--faults clock,kill] [--json] [--write]

Runs a server under load while faults are injected. Agents send, people watch and query, somebody makes backups, and
retention deletes. Meanwhile the server and its engine are killed and paused, the disk fills up or becomes slow, connections
break and the clock jumps. Beside all this, attackers without a key send huge logins, bodies that stall and heads that never
end (--attackers 0: none). In the end, every acknowledged span is compared with what the server's readers return, and a
thousand sessions with what the API returns. After 40% of the time the server itself is no longer killed, so that its memory
can be measured.

The data is on a small file system of its own: ext4 in a file behind a loop device. It is filled, and frozen for up to 0.9 s
at a time. If the machine does not allow that, the data is in memory and the disk is never slow, or in the temporary folder
and the disk is never full either. The report says which.

--faults injects only those whose names contain one of these words.
--write saves the figures in bench/results and rewrites docs/benchmarks.md.`

const DISK_MB = 1_500
const MAX_SESSIONS = 60_000
const PASSWORD = 'correct horse battery'
const FAULT_PAUSE_MS = 8_000
/** The first part of a run, in which the server itself may be killed. */
const KILL_SHARE = 0.4

/** Modules that are loaded into the server. */
const preloaded = [
  new URL('./jumping-clock.mjs', import.meta.url),
  new URL('./memory-probe.mjs', import.meta.url),
]

let lastLine = ''

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string', default: '1' },
    attackers: { type: 'string', default: '100' },
    faults: { type: 'string', default: '' },
    json: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) console.log(USAGE)
else process.exitCode = (await soak(Number(values.minutes), Number(values.seed))) ? 0 : 1

async function soak(minutes: number, seed: number): Promise<boolean> {
  const machine = describeMachine()
  const random = seededRandom(seed)
  const disk = SmallDisk.createOnLoop(DISK_MB) ?? SmallDisk.create(DISK_MB)
  const clockFile = join(tmpdir(), `playhead-soak-clock-${process.pid}`)
  const memory = new MemoryWatch()
  const server = await SpawnedServer.create({
    ...(disk !== undefined && { PLAYHEAD_DATA: join(disk.path, 'data') }),
    PLAYHEAD_AUTH: 'on',
    PLAYHEAD_PASSWORD: PASSWORD,
    PLAYHEAD_TEST_CLOCK: clockFile,
    PLAYHEAD_TEST_MEMORY: memory.heapFile,
    NODE_OPTIONS: preloaded.map((module) => `--import=${fileURLToPath(module)}`).join(' '),
  })
  const cleanUp = async () => {
    await server.remove()
    rmSync(clockFile, { force: true })
    memory.remove()
    disk?.remove()
  }
  // An interrupted run unmounts its disk.
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void cleanUp().finally(() => process.exit(130)))
  try {
    await server.start()
    await server.logIn(PASSWORD)
    const result = await run({ server, disk, clockFile, random }, minutes, memory)
    printSoak(result, values.json)
    if (values.write)
      writeBenchmarks({ suite: `soak, ${minutes} minutes`, machine, figures: figuresOf(result) })
    return result.problems.length === 0
  } catch (error) {
    console.error(`The server printed:\n${server.unexpectedLines().join('\n').slice(-3_000)}`)
    throw error
  } finally {
    await cleanUp()
  }
}

async function run(tools: FaultTools, minutes: number, memory: MemoryWatch): Promise<Soak> {
  const { server, random } = tools
  const latenciesMs: number[] = []
  const traffic = new Traffic({
    url: server.url,
    headers: server.headers,
    random,
    connections: 6,
    maxSessions: MAX_SESSIONS,
    maxPauseMs: 30,
    onAcknowledged: (latencyMs) => latenciesMs.push(latencyMs),
  })
  const clients = new OtherClients(server)
  const startedAtMs = performance.now()
  const endMs = startedAtMs + minutes * 60_000
  await clients.start()
  traffic.start()
  const attackers = await startClients({
    attackers: { url: server.url, connections: Number(values.attackers), isAuthOn: true },
  })
  const hostileSdk = await startHostileSdk(server)
  memory.start(server)
  const counts = await injectFaults(tools, { startedAtMs, endMs })
  memory.stop()
  rmSync(tools.clockFile, { force: true })
  const attacks = await attackers.stop()
  say('completing the sessions that were started')
  const [innocents] = await Promise.all([hostileSdk.finish(), traffic.finish(), clients.stop()])
  const expiredBefore = await clients.countExpired()
  await server.end('SIGTERM')
  await server.start()
  await waitFor(() => server.filesInFlight().length === 0)
  const ledger = await compareLedger(server, traffic.sessions, (what, share) =>
    say(`comparing with ${what}: ${Math.floor(share * 10) * 10}%`),
  )
  const incomplete = await findIncomplete(server, innocents.ids)
  await clients.tryRevokedKeys()
  const expiredAfter = await waitForRetention(clients)
  const lines = server.unexpectedLines()
  return {
    minutes,
    traffic,
    clients,
    attacks,
    counts,
    latenciesMs,
    memory: memory.trends(),
    disk: describeDisk(tools.disk),
    incompleteParts: lines.filter((line) => line.includes('left an incomplete part')).length,
    ledger,
    innocents: { sessions: innocents.ids.length, dropped: innocents.stats.dropped, incomplete },
    expiredBefore,
    expiredAfter,
    problems: lines.filter((line) => / failed: |the store rejected/.test(line)),
  }
}

function describeDisk(disk: SmallDisk | undefined): string {
  if (disk === undefined) return 'in the temporary folder: the disk was neither full nor slow'
  return disk.isSlowable
    ? 'on ext4 behind a loop device, frozen for up to 0.9 s at a time'
    : 'in memory: the disk was full, not slow'
}

async function injectFaults(
  tools: FaultTools,
  { startedAtMs, endMs }: { startedAtMs: number; endMs: number },
): Promise<Map<FaultName, number>> {
  const counts = new Map<FaultName, number>()
  const killUntilMs = startedAtMs + (endMs - startedAtMs) * KILL_SHARE
  while (performance.now() < endMs) {
    await pause(Math.min(FAULT_PAUSE_MS * (0.4 + tools.random()), Math.max(0, endMs - performance.now())))
    const mayKillServer = performance.now() < killUntilMs
    const possible = possibleFaults(tools)
      .filter((name) => mayKillServer || name !== 'kill -9 of the server')
      .filter((name) => values.faults.split(',').some((word) => name.includes(word)))
    const name = possible[Math.floor(tools.random() * possible.length)]!
    say(`${Math.round((performance.now() - startedAtMs) / 1_000)} s: ${name}`)
    await faults[name](tools)
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return counts
}

/** Retention runs at the start, and again a minute later if the store was unavailable. */
async function waitForRetention(clients: OtherClients): Promise<number> {
  const deadlineMs = performance.now() + 150_000
  for (;;) {
    const count = await clients.countExpired()
    if (count === 0 || performance.now() > deadlineMs) return count
    await pause(500)
  }
}

async function waitFor(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  const deadlineMs = performance.now() + 180_000
  while (!(await isTrue())) {
    if (performance.now() > deadlineMs) throw new Error('timed out after three minutes')
    await pause(100)
  }
}

function say(line: string): void {
  if (line !== lastLine) console.error(line)
  lastLine = line
}
