import { appendFile, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, expect, test, vi } from 'vitest'
import { temporaryFolder } from '../../test/temporary-folder.ts'
import type { Columns } from './native-block.ts'
import type { Segment } from './segment-file.ts'
import { SegmentLog } from './segment-log.ts'
import { DamagedFiles } from './damaged-files.ts'
import { wholeBlocks } from './whole-blocks.ts'

const columns: Columns<{ text: string }> = { text: { type: 'String', value: ({ text }) => text } }

afterEach(() => {
  vi.useRealTimers()
})

async function segmentFiles(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => name.endsWith('.segment'))
}

async function openLog(
  insert: (segment: Segment) => Promise<void>,
  directory?: string,
  refresh: (segment: Segment) => Promise<void> = () => Promise.resolve(),
) {
  const reports: string[] = []
  const folder = directory ?? (await temporaryFolder())
  const report = (line: string) => reports.push(line)
  const damaged = await DamagedFiles.open(join(folder, 'damaged'), report)
  const log = await SegmentLog.open({
    name: 'steps',
    damaged,
    directory: folder,
    columns,
    firstId: 100n,
    insert,
    refresh,
    report,
  })
  return { log, folder, reports, damaged }
}

test('append resolves once rows are on disk, and the file is deleted once the store has them', async () => {
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

test('rows reach the store within a second, even if nobody reads', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  const flushed: number[] = []
  const { log } = await openLog(async ({ rows }) => void flushed.push(rows))

  await log.append([{ text: 'one' }], [])
  await vi.advanceTimersByTimeAsync(1_000)

  await expect.poll(() => flushed).toEqual([1])
  await log.close()
})

test('concurrent appends and drains lose nothing', async () => {
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

test('a restart flushes what a killed process left, without its incomplete last write', async () => {
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

test('segment ids stay unique across restarts', async () => {
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

test('drain waits for rows acknowledged before it, and not for later ones', async () => {
  const flushes: (PromiseWithResolvers<void> & { rows: number })[] = []
  const { log } = await openLog(({ rows }) => {
    const flush = { ...Promise.withResolvers<void>(), rows }
    flushes.push(flush)
    return flush.promise
  })
  await log.append([{ text: 'mine' }], [])
  let isDrained = false
  const drained = log.drain().then(() => (isDrained = true))
  await expect.poll(() => flushes.length).toBe(1)

  await log.append([{ text: 'later' }, { text: 'later still' }], [])
  expect(isDrained).toBe(false)
  flushes[0]!.resolve()
  await drained

  expect(flushes[0]!.rows).toBe(1)
  expect(log.state().pendingRows).toBe(2)
  const closed = log.close()
  await expect.poll(() => flushes.length).toBe(2)
  flushes[1]!.resolve()
  await closed
})

test('under load, drain returns when everything acknowledged before it is stored', async () => {
  let [acknowledged, stored] = [0, 0]
  const end = new AbortController()
  const { log } = await openLog(async ({ rows }) => {
    await nextTurn()
    stored += rows
  })
  const senders = Array.from({ length: 4 }, async () => {
    while (!end.signal.aborted) {
      await log.append([{ text: 'more' }], [])
      acknowledged += 1
    }
  })
  await expect.poll(() => acknowledged).toBeGreaterThan(0)

  for (let reader = 0; reader < 5; reader++) {
    const before = acknowledged
    await log.drain()
    expect(stored).toBeGreaterThanOrEqual(before)
  }

  end.abort()
  await Promise.all(senders)
  await log.close()
})

test('readers do not wait for a store that is down, and the first read after a pause retries', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  let isDown = true
  let attempts = 0
  const flushed: number[] = []
  const { log } = await openLog(async ({ rows }) => {
    attempts += 1
    if (isDown) throw new Error('the store is down')
    flushed.push(rows)
  })
  await log.append([{ text: 'one' }], [])

  await log.catchUp()
  await log.catchUp()
  expect(attempts).toBe(1)
  // Retries on its own after 200, 400 and 800 ms; the last one is due at 1,400 ms.
  await vi.advanceTimersByTimeAsync(1_200)
  expect(attempts).toBe(3)

  isDown = false
  await log.catchUp()
  expect(flushed).toEqual([1])
  await log.close()
})

test('a row that cannot be encoded fails its own request and no other', async () => {
  const { log, folder } = await openLog(() => Promise.reject(new Error('the store is down')))
  const good = [log.append([{ text: 'one' }], []), log.append([{ text: 'two' }], [])]
  // The types forbid it, but a bug in a dialect could produce it.
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

test('a store that comes back receives everything acknowledged in the meantime', async () => {
  let isDown = true
  const flushed: number[] = []
  const { log, reports } = await openLog(async ({ rows }) => {
    if (isDown) throw new Error('connection refused')
    flushed.push(rows)
  })

  await log.append([{ text: 'one' }], [])
  await expect(log.drain()).rejects.toThrow('safe in the log')
  await log.append([{ text: 'two' }], [])
  isDown = false

  await expect.poll(() => flushed.reduce((sum, rows) => sum + rows, 0)).toBe(2)
  expect(reports).toEqual([
    expect.stringMatching(/^could not flush segment 100, will retry: connection refused/),
  ])
  await log.close()
})

test('a segment that the store rejects for good is set aside and does not block the next ones', async () => {
  const flushed: bigint[] = []
  const { log, folder, reports, damaged } = await openLog(async ({ id }) => {
    if (id === 100n) throw Object.assign(new Error('type mismatch'), { isPermanent: true })
    flushed.push(id)
  })

  await log.append([{ text: 'bad' }], [])
  await log.drain()
  await log.append([{ text: 'good' }], [])
  await log.drain()

  expect(flushed).toEqual([101n])
  expect(await segmentFiles(folder)).toEqual([])
  const problem = 'the store rejected segment 100 of the log of steps: type mismatch.'
  const [file] = await segmentFiles(join(folder, 'damaged'))
  expect(damaged.list()).toMatchObject([{ name: file, problem, rows: 1 }])
  expect(reports).toEqual([`${problem} The damaged file is kept: ${join(folder, 'damaged', file!)}`])
  await log.close()
})

test('refuses new rows when the store is too far behind, and says when to retry', async () => {
  const folder = await temporaryFolder()
  const log = await SegmentLog.open({
    name: 'steps',
    damaged: await DamagedFiles.open(join(folder, 'damaged'), () => undefined),
    directory: folder,
    columns,
    firstId: 1n,
    insert: () => Promise.reject(new Error('down')),
    refresh: () => Promise.resolve(),
    report: () => undefined,
    maxPendingRows: 2,
  })
  await log.append([{ text: 'one' }, { text: 'two' }], [])

  await expect(log.append([{ text: 'three' }], [])).rejects.toMatchObject({
    code: 'SERVER_BUSY',
    retryAfterSeconds: 1,
  })
  await log.close()
})

test('the next segment is inserted while the sessions of the one before are computed, in order', async () => {
  const events: string[] = []
  const refreshing = Promise.withResolvers<void>()
  const { log, folder } = await openLog(
    async ({ id }) => void events.push(`insert ${id}`),
    undefined,
    async ({ id }) => {
      events.push(`refresh ${id}`)
      if (id === 100n) await refreshing.promise
      events.push(`done ${id}`)
    },
  )
  await log.append([{ text: 'one' }], [])
  const first = log.drain()
  await expect.poll(() => events).toEqual(['insert 100', 'refresh 100'])
  await log.append([{ text: 'two' }], [])
  const second = log.drain()
  await expect.poll(() => events).toEqual(['insert 100', 'refresh 100', 'insert 101'])
  // A process that is killed now computes the sessions of both again.
  expect(await segmentFiles(folder)).toHaveLength(2)

  refreshing.resolve()
  await Promise.all([first, second])
  expect(events.slice(3)).toEqual(['done 100', 'refresh 101', 'done 101'])
  expect(await segmentFiles(folder)).toEqual([])
  await log.close()
})

test('when sessions can not be computed, the segment is tried again before the next one', async () => {
  const refreshed: bigint[] = []
  let isDown = true
  const { log } = await openLog(
    () => Promise.resolve(),
    undefined,
    async ({ id }) => {
      if (isDown) throw new Error('connection refused')
      refreshed.push(id)
    },
  )
  for (const text of ['one', 'two']) {
    await log.append([{ text }], [])
    await log.drain().catch(() => undefined)
  }
  isDown = false
  await log.drain().catch(() => log.drain())
  expect(refreshed).toEqual([100n, 101n])
  await log.close()
})
