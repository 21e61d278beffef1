import { setTimeout as sleep } from 'node:timers/promises'
import type { Api, Health } from '../harness/api.ts'
import { cpuSeconds } from '../harness/process-usage.ts'
import type { Progress } from '../harness/progress.ts'
import type { BenchServer } from './bench-server.ts'

const QUIET_MS = 12_000
/** Small tables, such as that of the nodes, change as long as the server runs; nothing that is measured depends on them. */
const TOLERATED_SHARE = 0.001
const MAX_WAIT_MS = 240_000

/** Waits until the store has everything that was acknowledged; returns how long it took. */
export async function waitForStore(api: Api, progress: Progress): Promise<number> {
  const startedAtMs = performance.now()
  for (;;) {
    const { pendingRows } = await api.health()
    if (pendingRows === 0) return performance.now() - startedAtMs
    progress.show('waiting for the store', undefined, `${pendingRows.toLocaleString('en-US')} rows left`)
    await sleep(50)
  }
}

/** Waits until the words of all that is stored are collected. */
export async function waitForWords(api: Api, progress: Progress): Promise<number> {
  const startedAtMs = performance.now()
  for (;;) {
    const { rowsWithoutWords } = await api.health()
    if (rowsWithoutWords === 0) return performance.now() - startedAtMs
    progress.show('waiting for words', undefined, `${rowsWithoutWords.toLocaleString('en-US')} rows left`)
    await sleep(200)
  }
}

/** Waits until merges hardly change the size of the tables any more, or for a few minutes at most. */
export async function waitForMerges(api: Api, progress: Progress): Promise<Health> {
  await waitForStore(api, progress)
  const startedAtMs = performance.now()
  let health = await api.health()
  let quiet = { sinceMs: performance.now(), bytes: totalBytes(health) }
  while (performance.now() - quiet.sinceMs < QUIET_MS && performance.now() - startedAtMs < MAX_WAIT_MS) {
    await sleep(1_000)
    health = await api.health()
    const bytes = totalBytes(health)
    // Compared with the size when it became quiet, so that many small changes add up.
    if (Math.abs(bytes - quiet.bytes) > quiet.bytes * TOLERATED_SHARE)
      quiet = { sinceMs: performance.now(), bytes }
    progress.show('waiting for merges', undefined, `${(bytes / 1024 ** 2).toFixed(0)} MB`)
  }
  return health
}

/** At rest, the two processes together use less of a core than this, so many seconds in a row. */
const REST_SHARE = 0.06
const REST_SECONDS = 4
const MAX_REST_WAIT_MS = 1_800_000

/** Waits until the server does nothing in the background any more, such as computing findings. */
export async function waitForRest(server: BenchServer, progress: Progress): Promise<void> {
  const startedAtMs = performance.now()
  let quietSeconds = 0
  let last = cpuOf(server)
  while (quietSeconds < REST_SECONDS && performance.now() - startedAtMs < MAX_REST_WAIT_MS) {
    await sleep(1_000)
    const now = cpuOf(server)
    quietSeconds = now - last < REST_SHARE ? quietSeconds + 1 : 0
    progress.show(
      'waiting for the server to rest',
      undefined,
      `${((now - last) * 100).toFixed(0)}% of a core`,
    )
    last = now
  }
}

function cpuOf({ pid, enginePid }: BenchServer): number {
  return cpuSeconds(pid) + cpuSeconds(enginePid)
}

function totalBytes({ disk }: Health): number {
  return disk.tables.reduce((sum, table) => sum + table.bytes, 0)
}
