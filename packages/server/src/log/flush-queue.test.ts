import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../test/temporary-folder.ts'
import { DamagedFiles } from './damaged-files.ts'
import type { FlushQueueOptions } from './flush-queue.ts'
import type { Columns } from './native-block.ts'
import { SegmentLog } from './segment-log.ts'

const columns: Columns<{ text: string }> = { text: { type: 'String', value: ({ text }) => text } }

async function openLog(given: Pick<FlushQueueOptions, 'insert' | 'refresh' | 'refreshEarly'>) {
  const folder = await temporaryFolder()
  const damaged = await DamagedFiles.open(join(folder, 'damaged'), () => undefined)
  const report = () => undefined
  const log = await SegmentLog.open({
    ...given,
    name: 'steps',
    damaged,
    directory: folder,
    columns,
    firstId: 100n,
    report,
  })
  return { log, folder }
}

test('sessions that are in memory are computed while their rows are inserted, and the file stays until both are stored', async () => {
  const [inserted, refreshed] = [Promise.withResolvers<void>(), Promise.withResolvers<boolean>()]
  const begun: string[] = []
  const { log, folder } = await openLog({
    insert: async () => {
      begun.push('insert')
      await inserted.promise
    },
    refresh: async () => void begun.push('refresh'),
    refreshEarly: async () => {
      begun.push('early')
      return refreshed.promise
    },
  })
  await log.append([{ text: 'one' }], ['p\0s'])
  const drained = log.drain()
  await expect.poll(() => begun.toSorted()).toEqual(['early', 'insert'])
  inserted.resolve()
  await nextTurn()
  expect(log.state().segments).toBe(1)
  refreshed.resolve(true)
  await drained
  expect((await readdir(folder)).filter((name) => name.endsWith('.segment'))).toEqual([])
  expect(begun).toHaveLength(2)
  await log.close()
})

test('sessions that are not in memory are computed after the insert', async () => {
  const order: string[] = []
  const { log, folder } = await openLog({
    insert: async () => {
      await nextTurn()
      order.push('insert')
    },
    refresh: async () => void order.push('refresh'),
    refreshEarly: async () => false,
  })
  await log.append([{ text: 'one' }], ['p\0s'])
  await log.drain()
  expect(order).toEqual(['insert', 'refresh'])
  expect((await readdir(folder)).filter((name) => name.endsWith('.segment'))).toEqual([])
  await log.close()
})

test('if one of both fails, both are tried again', async () => {
  let attempts = 0
  const begun: string[] = []
  const { log, folder } = await openLog({
    insert: async () => {
      begun.push('insert')
      attempts += 1
      if (attempts === 1) throw new Error('the store is away')
    },
    refresh: async () => void begun.push('refresh'),
    refreshEarly: async (_, { inserted }) => {
      begun.push('early')
      await inserted
      return true
    },
  })
  await log.append([{ text: 'one' }], ['p\0s'])
  await expect.poll(() => begun, { timeout: 5_000 }).toHaveLength(4)
  await log.drain()
  expect(begun.toSorted()).toEqual(['early', 'early', 'insert', 'insert'])
  expect((await readdir(folder)).filter((name) => name.endsWith('.segment'))).toEqual([])
  await log.close()
})

test('readers of lists wait until memory lists the sessions, others until the store has them', async () => {
  const [inserted, computed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const { log } = await openLog({
    insert: () => inserted.promise,
    refresh: async () => undefined,
    refreshEarly: async (_, { listed }) => {
      await computed.promise
      listed()
      return true
    },
  })
  await log.append([{ text: 'one' }], ['p\0s'])
  const ended: string[] = []
  const lists = log.catchUp({ isListed: true }).finally(() => ended.push('lists'))
  const others = log.catchUp().finally(() => ended.push('others'))
  await nextTurn()
  expect(ended).toEqual([])
  computed.resolve()
  // The store may lack what is listed.
  expect(await lists).toBe(true)
  expect(ended).toEqual(['lists'])
  expect(await log.readPending(['text'], ['p\0s'])).toEqual([{ text: 'one' }])
  expect(await log.readPending(['text'], ['p\0other'])).toEqual([])
  inserted.resolve()
  expect(await others).toBe(false)
  expect(await log.catchUp({ isListed: true })).toBe(false)
  await log.close()
})
