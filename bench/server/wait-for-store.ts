import { setTimeout as sleep } from 'node:timers/promises'
import type { Api, Health } from '../harness/api.ts'
import type { Progress } from '../harness/progress.ts'

const QUIET_MS = 12_000
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

/** Waits until merges no longer change the size of the tables, or for a few minutes at most. */
export async function waitForMerges(api: Api, progress: Progress): Promise<Health> {
  await waitForStore(api, progress)
  const startedAtMs = performance.now()
  let last = await api.health()
  let quietSinceMs = performance.now()
  while (performance.now() - quietSinceMs < QUIET_MS && performance.now() - startedAtMs < MAX_WAIT_MS) {
    await sleep(1_000)
    const health = await api.health()
    if (totalBytes(health) !== totalBytes(last)) quietSinceMs = performance.now()
    last = health
    progress.show('waiting for merges', undefined, `${(totalBytes(health) / 1024 ** 2).toFixed(0)} MB`)
  }
  return last
}

function totalBytes({ disk }: Health): number {
  return disk.tables.reduce((sum, table) => sum + table.bytes, 0)
}
