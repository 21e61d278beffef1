import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { seededRandom } from '../seeded-random.ts'
import { isViolation, type OnOutcome } from './flip.ts'
import { flipLog } from './log-flips.ts'
import { makeSample } from './sample.ts'
import { flipUnderServers } from './server-flips.ts'
import { flipStore } from './store-flips.ts'

export type Flips = { log: number; store: number; servers: number }

/** How often each outcome occurred, and where the bits are whose flip nobody noticed. */
export type FlipResult = {
  spans: number
  counts: Map<string, number>
  /** The flips after which a server or table could not be opened, and why. */
  noStarts: string[]
  violations: string[]
}

export async function flipBits(
  flips: Flips,
  { seed, sessions, onProgress }: { seed: number; sessions: number; onProgress: (done: number) => void },
): Promise<FlipResult> {
  const random = seededRandom(seed)
  const folder = mkdtempSync(join(tmpdir(), 'playhead-bitflip-'))
  const counts = new Map<string, number>()
  const violations: string[] = []
  const noStarts: string[] = []
  let done = 0
  const note =
    (share: string): OnOutcome =>
    (flip, outcome, reason) => {
      const key = `${share}: ${outcome}`
      counts.set(key, (counts.get(key) ?? 0) + 1)
      const place = `bit ${flip.bit} of byte ${flip.at} of ${flip.file.slice(folder.length + 1)}`
      if (outcome === 'no start') noStarts.push(`${share}, ${place}: ${reason}`)
      if (isViolation(outcome)) violations.push(`${outcome}: ${place}`)
      onProgress(++done)
    }
  try {
    const sample = await makeSample(folder, { sessions, random })
    const tools = { sample, folder, random }
    await flipLog({ log: join(sample.half, 'log', 'steps'), folder, random }, flips.log, note('log'))
    await flipUnderServers(tools, flips.servers, note('whole server'))
    await flipStore(tools, flips.store, note('store'))
    return { spans: sample.truth.size, counts, noStarts, violations }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
