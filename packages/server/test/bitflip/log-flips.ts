import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DamagedFiles } from '../../src/log/damaged-files.ts'
import { readFrames } from '../../src/log/frames.ts'
import { SegmentIds } from '../../src/log/segment-ids.ts'
import { SegmentLog } from '../../src/log/segment-log.ts'
import { stepColumns } from '../../src/store/steps-table.ts'
import { chooseFlip, filesIn, flipBit, judge, type OnOutcome } from './flip.ts'
import { copyFolder } from './sample.ts'

/** Flips bits of the log, one at a time, and reads it as a server does at its start. Compares the blocks that reach the store. */
export async function flipLog(
  { log, folder, random }: { log: string; folder: string; random: () => number },
  count: number,
  onOutcome: OnOutcome,
): Promise<void> {
  const work = join(folder, 'log')
  copyFolder(log, work)
  const original = await readBlocks(work, join(folder, 'none'))
  rmSync(work, { recursive: true })
  for (let done = 0; done < count; done++) {
    copyFolder(log, work)
    const flip = chooseFlip(filesIn(work), random)
    flipBit(flip)
    const damagedFolder = join(folder, 'damaged')
    const { blocks, isReported, nextId } = await readBlocks(work, damagedFolder)
    const lost = original.blocks.filter((block) => !blocks.includes(block)).length
    const altered = blocks.filter((block) => !original.blocks.includes(block)).length
    // An id that was used before would make new rows look as if they were stored.
    const isRepeated = nextId >= original.firstId && nextId < original.nextId
    onOutcome(flip, judge({ lost, altered: altered + (isRepeated ? 1 : 0), isReported }))
    rmSync(work, { recursive: true })
    rmSync(damagedFolder, { recursive: true, force: true })
  }
}

/** The frames that a log hands to the store, what it reports, and the id of its next segment. */
async function readBlocks(directory: string, damagedFolder: string) {
  const reports: string[] = []
  const blocks: string[] = []
  const ids: bigint[] = []
  const report = (line: string) => void reports.push(line)
  const damaged = await DamagedFiles.open(damagedFolder, report)
  mkdirSync(directory, { recursive: true })
  const log = await SegmentLog.open({
    name: 'steps',
    damaged,
    directory,
    columns: stepColumns,
    firstId: 0n,
    report,
    refresh: () => Promise.resolve(),
    async insert({ id, path, marker }) {
      const bytes = readFileSync(path)
      const { readable } = readFrames(bytes, marker!)
      for (const { start, end } of readable) blocks.push(bytes.toString('base64', start, end))
      ids.push(id)
    },
  })
  await log.drain()
  await log.close()
  const isReported = reports.length > 0
  const nextId = await (await SegmentIds.open(directory, { firstId: 0n, name: 'steps', damaged })).next()
  return { blocks, isReported, firstId: ids[0]!, nextId }
}
