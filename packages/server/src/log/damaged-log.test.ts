import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../test/temporary-folder.ts'
import { DamagedFiles } from './damaged-files.ts'
import { NativeBlock, type Columns } from './native-block.ts'
import { readFrames } from './frames.ts'
import type { Segment } from './segment-file.ts'
import { SegmentLog } from './segment-log.ts'

const columns: Columns<{ text: string }> = { text: { type: 'String', value: ({ text }) => text } }

/** A log in a folder whose store is down until `isUp`, and what reached the store. */
async function openLog(folder: string, isUp: () => boolean) {
  const reports: string[] = []
  const flushed: (Segment & { texts: string[] })[] = []
  const report = (line: string) => reports.push(line)
  const damaged = await DamagedFiles.open(join(folder, 'damaged'), report)
  const flush = async (segment: Segment) => {
    if (!isUp()) throw new Error('the store is down')
    flushed.push({ ...segment, texts: textsOf(await readFile(segment.path)) })
  }
  const log = await SegmentLog.open({
    name: 'steps',
    damaged,
    directory: folder,
    columns,
    firstId: 100n,
    insert: flush,
    refresh: () => Promise.resolve(),
    report,
  })
  return { log, reports, flushed, damaged }
}

function textsOf(bytes: Buffer): string[] {
  return [...bytes.toString('latin1').matchAll(/row \d/g)].map(([text]) => text)
}

async function segmentIn(folder: string): Promise<string> {
  const [name] = (await readdir(folder)).filter((file) => /\.(segment|native)$/.test(file))
  return join(folder, name!)
}

async function flipBit(path: string, text: string): Promise<void> {
  const bytes = await readFile(path)
  bytes[bytes.indexOf(text)]! ^= 4
  await writeFile(path, bytes)
}

test.each(['while the server runs', 'before a restart'])(
  'a bit flipped %s costs only its own block, and is reported',
  async (when) => {
    const folder = await temporaryFolder()
    let isUp = false
    let opened = await openLog(folder, () => isUp)
    for (const text of ['row 1', 'row 2', 'row 3']) await opened.log.append([{ text }], [])
    if (when === 'before a restart') await opened.log.close()
    const path = await segmentIn(folder)
    await flipBit(path, 'row 2')
    const damagedBytes = await readFile(path)
    isUp = true
    if (when === 'before a restart') opened = await openLog(folder, () => isUp)
    await opened.log.drain()

    const { flushed, reports, damaged, log } = opened
    expect(flushed).toMatchObject([
      { id: 100n, rows: 2, texts: ['row 1', 'row 3'], mayBeStored: false, isDamaged: true },
    ])
    const name = path.slice(folder.length + 1)
    const problem =
      "segment 100 of the log of steps is damaged: 1 block can't be read (1 row). 2 undamaged blocks (2 rows) recovered."
    expect(reports.filter((line) => !line.startsWith('could not flush'))).toEqual([
      `${problem} The damaged file is kept: ${join(folder, 'damaged', name)}`,
    ])
    expect(damaged.list()).toMatchObject([{ name, problem, blocks: 1, rows: 1 }])
    expect(await readFile(join(folder, 'damaged', name))).toEqual(damagedBytes)
    await log.close()
    const later = await DamagedFiles.open(join(folder, 'damaged'), () => undefined)
    expect(later.list()).toEqual(damaged.list())
  },
)

test('a segment in which nothing is readable is reported and does not block the next ones', async () => {
  const folder = await temporaryFolder()
  let isUp = false
  const { log, flushed, damaged } = await openLog(folder, () => isUp)
  await log.append([{ text: 'row 1' }], [])
  const path = await segmentIn(folder)
  await writeFile(path, Buffer.alloc((await readFile(path)).length))
  isUp = true
  await log.drain()
  await log.append([{ text: 'row 2' }], [])
  await log.drain()
  await log.close()

  expect(flushed.map(({ texts }) => texts)).toEqual([[], ['row 2']])
  expect(damaged.list()).toMatchObject([{ blocks: 1, rows: null }])
})

test('a segment that was truncated between two blocks while the server runs is reported', async () => {
  const folder = await temporaryFolder()
  let isUp = false
  const { log, flushed, damaged } = await openLog(folder, () => isUp)
  for (const text of ['row 1', 'row 2', 'row 3']) await log.append([{ text }], [])
  const path = await segmentIn(folder)
  const bytes = await readFile(path)
  const marker = /-(\w+)\.segment$/.exec(path)![1]!
  await writeFile(path, bytes.subarray(0, readFrames(bytes, marker).readable[1]!.end))
  isUp = true
  await log.drain()
  await log.close()

  expect(flushed.map(({ texts }) => texts)).toEqual([['row 1', 'row 2']])
  expect(damaged.list()).toMatchObject([{ blocks: 1, rows: 1 }])
})

test('a segment of a version without checksums is read, and an end that is no block is kept', async () => {
  const folder = await temporaryFolder()
  const block = new NativeBlock(columns)
  block.append({ text: 'row 1' })
  const path = join(folder, '00000000000000000042.native')
  await writeFile(path, Buffer.concat([...block.pieces(), Buffer.from([2, 3, 4, 116])]))

  const { log, flushed, damaged } = await openLog(folder, () => true)
  await log.append([{ text: 'row 2' }], [])
  await log.drain()
  await log.close()

  expect(flushed.map(({ id, texts }) => [id, texts])).toEqual([
    [42n, ['row 1']],
    [100n, ['row 2']],
  ])
  expect(damaged.list()).toMatchObject([
    {
      name: '00000000000000000042.native',
      problem: expect.stringContaining('incomplete write of 4 bytes') as string,
    },
  ])
})

test.each(['garbage', '1100 00000000\n', '', '110\u{1} 00000000\n'])(
  'a damaged next-id (%j) is reported, and no id is used twice',
  async (content) => {
    const folder = await temporaryFolder()
    const first = await openLog(folder, () => true)
    await first.log.append([{ text: 'row 1' }], [])
    await first.log.close()
    await writeFile(join(folder, 'next-id'), content)

    const ids = new Set(first.flushed.map(({ id }) => id))
    const reports: string[] = []
    for (const text of ['row 2', 'row 3']) {
      const next = await openLog(folder, () => true)
      await next.log.append([{ text }], [])
      await next.log.close()
      for (const { id } of next.flushed) ids.add(id)
      reports.push(...next.reports)
    }

    expect(ids.size).toBe(3)
    expect(reports).toEqual([
      expect.stringMatching(/^the file with the number of the next segment of the log of steps is damaged\./),
    ])
    expect(await readFile(join(folder, 'damaged', 'next-id'), 'utf8')).toBe(content)
  },
)
