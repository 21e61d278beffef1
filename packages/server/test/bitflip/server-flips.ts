import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { startTestServer } from '../test-server.ts'
import { chooseFlip, filesIn, flipBit, judge, type OnOutcome, type Outcome } from './flip.ts'
import { compareSpans, copyFolder, hashesIn, type Sample } from './sample.ts'

/** Flips bits anywhere in a data folder, one at a time, and starts a whole server on it. */
export async function flipUnderServers(
  { sample, folder, random }: { sample: Sample; folder: string; random: () => number },
  count: number,
  onOutcome: OnOutcome,
): Promise<void> {
  const data = join(folder, 'data-flipped')
  for (let done = 0; done < count; done++) {
    copyFolder(sample.half, data)
    // The parts of tables have their own share of the flips.
    const files = filesIn(data).filter(
      (file) => random() < 0.1 || !/\/tables\/store\/.*_\d+_\d+\//.test(file),
    )
    const flip = chooseFlip(files, random)
    flipBit(flip)
    const [outcome, reason] = await outcomeOf(data, sample)
    onOutcome(flip, outcome, reason)
    rmSync(data, { recursive: true })
  }
}

async function outcomeOf(data: string, sample: Sample): Promise<[Outcome, reason?: string]> {
  const started = await startTestServer({ PLAYHEAD_DATA: data }).catch((error: Error) => error)
  if (started instanceof Error) return ['no start', started.message]
  try {
    const { store, drain } = started.services
    await drain()
    await store.repair!.checkAll()
    const compared = compareSpans(sample, await hashesIn(store, sample.ids))
    return [judge({ ...compared, isReported: started.reports.length > 0 || store.badRows.count > 0 })]
  } finally {
    await started.stop()
  }
}
