import { appendFile, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../test/temporary-folder.ts'
import type { Columns } from './native-block.ts'
import type { Segment } from './segment-file.ts'
import { SegmentLog } from './segment-log.ts'
import { wholeBlocks } from './whole-blocks.ts'

const columns: Columns<{ text: string }> = { text: { type: 'String', value: ({ text }) => text } }

async function segmentFiles(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => name !== 'next-id')
}

async function openLog(flush: (segment: Segment) => Promise<void>, directory?: string) {
  const reports: string[] = []
  const folder = directory ?? (await temporaryFolder())
  const log = await SegmentLog.open({
    directory: folder,
    columns,
    firstId: 100n,
    flush,
    report: (line) => reports.push(line),
  })
  return { log, folder, reports }
}

test('rows are on disk when append returns, and gone from it when the store has them', async () => {
  const flushed: Segment[] = []
  const { log, folder } = await openLog(async (segment) => void flushed.push({ ...segment }))

  await log.append([{ text: 'one' }, { text: 'two' }], ['p\0s'])
  expect(await segmentFiles(folder)).toHaveLength(1)
  expect(log.state()).toMatchObject({ pendingRows: 2, segments: 1 })

  await log.drain()
  expect(flushed).toMatchObject([{ id: 100n, rows: 2, touched: new Set(['p\0s']) }])
  expect(await segmentFiles(folder)).toEqual([])
  await log.close()
})

test('without anyone asking, rows reach the store within a second', async () => {
  const flushed: number[] = []
  const { log } = await openLog(async ({ rows }) => void flushed.push(rows))

  await log.append([{ text: 'one' }], [])

  await expect.poll(() => flushed, { timeout: 2_000 }).toEqual([1])
  await log.close()
})

test('appends and drains that run into each other lose nothing', async () => {
  let stored = 0
  const { log } = await openLog(async ({ rows }) => void (stored += rows))

  await Promise.all(
    Array.from({ length: 200 }, async (_, index) => {
      await log.append([{ text: `row ${index}` }], [])
      if (index % 7 === 0) await log.drain()
    }),
  )
  await log.drain()

  expect(stored).toBe(200)
  expect(log.state()).toMatchObject({ pendingRows: 0, pendingBytes: 0, segments: 0 })
  await log.close()
})

test('what a killed process left is flushed at the next start, without the write it died in', async () => {
  const { log, folder } = await openLog(() => Promise.reject(new Error('the store is down')))
  await log.append([{ text: 'kept' }], ['p\0s'])
  await log.close()
  const [file] = await segmentFiles(folder)
  await appendFile(join(folder, file!), Buffer.from([2, 3, 4, 116]))

  const flushed: Segment[] = []
  const { log: next } = await openLog(async (segment) => void flushed.push({ ...segment }), folder)
  await next.drain()

  expect(flushed).toMatchObject([{ id: 100n, rows: 1, touched: undefined, mayBeStored: true }])
  await next.append([{ text: 'new' }], [])
  await next.drain()
  expect(flushed.at(-1)).toMatchObject({ rows: 1 })
  expect(flushed.at(-1)!.id).toBeGreaterThan(100n)
  await next.close()
})

test('no two segments of a directory have the same id, whatever was flushed before a restart', async () => {
  const ids: bigint[] = []
  let folder: string | undefined
  for (let life = 0; life < 3; life++) {
    const opened = await openLog(async ({ id }) => void ids.push(id), folder)
    folder = opened.folder
    for (const text of ['one', 'two']) {
      await opened.log.append([{ text }], [])
      await opened.log.drain()
    }
    await opened.log.close()
  }

  expect(ids).toHaveLength(6)
  expect(new Set(ids).size).toBe(6)
})

test('whoever reads waits for what was acknowledged before, however much arrives meanwhile', async () => {
  let stored = 0
  const end = new AbortController()
  const { log } = await openLog(async ({ rows }) => {
    await pause(20)
    stored += rows
  })
  const senders = Array.from({ length: 4 }, async () => {
    while (!end.signal.aborted) await log.append([{ text: 'more' }], [])
  })
  await log.append([{ text: 'mine' }], [])

  for (let reader = 0; reader < 5; reader++) await log.drain()

  end.abort()
  await Promise.all(senders)
  expect(stored).toBeGreaterThan(0)
  await log.close()
})

test('a store that takes nothing does not keep anyone from reading', async () => {
  let isDown = true
  const flushed: number[] = []
  const { log } = await openLog(async ({ rows }) => {
    if (isDown) throw new Error('the store is down')
    flushed.push(rows)
  })
  await log.append([{ text: 'one' }], [])

  for (let reader = 0; reader < 8; reader++) {
    await expect(log.catchUp()).resolves.toBeUndefined()
    await pause(100)
  }

  isDown = false
  await pause(600)
  await log.catchUp()
  expect(flushed).toEqual([1])
  await log.close()
})

test('a row that cannot be written costs its own request and not the rows of others', async () => {
  const { log, folder } = await openLog(() => Promise.reject(new Error('the store is down')))
  const good = [log.append([{ text: 'one' }], []), log.append([{ text: 'two' }], [])]
  // What no type allows, but a bug in the reading of a span could make.
  const broken = { text: undefined as unknown as string }

  expect(() => log.append([{ text: 'half' }, broken], [])).toThrow(TypeError)
  await Promise.all([...good, log.append([{ text: 'three' }], [])])
  await log.close()

  const rows: number[] = []
  for (const file of await segmentFiles(folder)) {
    const bytes = await readFile(join(folder, file))
    const whole = wholeBlocks(bytes)
    expect(whole.length).toBe(bytes.length)
    rows.push(whole.rows)
  }
  expect(rows).toEqual([3])
})

test('a store that comes back gets everything that was acknowledged meanwhile', async () => {
  let isDown = true
  const flushed: number[] = []
  const { log, reports } = await openLog(async ({ rows }) => {
    if (isDown) throw new Error('connection refused')
    flushed.push(rows)
  })

  await log.append([{ text: 'one' }], [])
  await expect(log.drain()).rejects.toThrow('kept in the log')
  await log.append([{ text: 'two' }], [])
  isDown = false

  await expect.poll(() => flushed.reduce((sum, rows) => sum + rows, 0), { timeout: 10_000 }).toBe(2)
  expect(reports).toEqual([expect.stringContaining('not in the store yet: connection refused')])
  await log.close()
})

test('a segment that the store can never take is set aside, and the next ones go on', async () => {
  const flushed: bigint[] = []
  const { log, folder, reports } = await openLog(async ({ id }) => {
    if (id === 100n) throw Object.assign(new Error('type mismatch'), { isPermanent: true })
    flushed.push(id)
  })

  await log.append([{ text: 'bad' }], [])
  await log.drain()
  await log.append([{ text: 'good' }], [])
  await log.drain()

  expect(flushed).toEqual([101n])
  expect(await segmentFiles(folder)).toEqual([expect.stringMatching(/\.rejected$/)])
  expect(reports).toEqual([expect.stringContaining('was set aside')])
  await log.close()
})

test('when too much waits for the store, new rows are refused and told when to come back', async () => {
  const folder = await temporaryFolder()
  const log = await SegmentLog.open({
    directory: folder,
    columns,
    firstId: 1n,
    flush: () => Promise.reject(new Error('down')),
    report: () => undefined,
    maxPendingRows: 2,
  })
  await log.append([{ text: 'one' }, { text: 'two' }], [])

  await expect(log.append([{ text: 'three' }], [])).rejects.toMatchObject({
    code: 'SERVER_BUSY',
    retryAfterSeconds: 5,
  })
  await log.close()
})
