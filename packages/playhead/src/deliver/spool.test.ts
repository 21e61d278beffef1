import { mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { Spool, type SpooledBatch } from './spool.ts'

const target = { endpoint: 'http://127.0.0.1:4318', apiKey: 'ph_secret' }
let root: string

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'playhead-spool-'))
})
afterEach(() => rm(root, { recursive: true, force: true }))

const bytesOf = (text: string) => Buffer.from(text)
const textOf = (batch: SpooledBatch | undefined) => batch && Buffer.from(batch.bytes).toString()
const filesIn = async () =>
  (await readdir(root, { recursive: true })).filter((name) => name.includes('.otlp'))

test('batches are claimed in the order in which they were written, each once', async () => {
  const spool = new Spool(root, target, () => undefined)
  await spool.write(bytesOf('first'), 1)
  await spool.write(bytesOf('second'), 2)
  const first = await spool.claim()
  const second = await spool.claim()
  expect([textOf(first), textOf(second), second?.stepCount, await spool.claim()]).toEqual([
    'first',
    'second',
    2,
    undefined,
  ])
  await spool.remove(first!)
  await spool.release(second!)
  expect(textOf(await spool.claim())).toBe('second')
})

test('each server and key has its own folder, and no key is written to disk', async () => {
  await new Spool(root, target, () => undefined).write(bytesOf('mine'), 1)
  for (const other of [
    { ...target, endpoint: 'http://elsewhere' },
    { ...target, apiKey: 'ph_other' },
  ])
    expect(await new Spool(root, other, () => undefined).claim()).toBeUndefined()
  expect((await filesIn()).join()).not.toContain('secret')
})

test('many processes can share a folder: every batch is claimed once', async () => {
  const spools = Array.from({ length: 8 }, () => new Spool(root, target, () => undefined))
  await Promise.all(
    Array.from({ length: 40 }, (_, index) => spools[index % 8]!.write(bytesOf(`batch ${index}`), 1)),
  )
  const claimed: string[] = []
  await Promise.all(
    spools.map(async (spool) => {
      for (let batch = await spool.claim(); batch !== undefined; batch = await spool.claim())
        claimed.push(textOf(batch)!)
    }),
  )
  expect(claimed.toSorted()).toEqual(Array.from({ length: 40 }, (_, index) => `batch ${index}`).toSorted())
})

test('a batch whose process died while sending is not lost', async () => {
  const spool = new Spool(root, target, () => undefined)
  await spool.write(bytesOf('abandoned'), 1)
  await spool.claim()
  expect(await spool.claim()).toBeUndefined()
  vi.useFakeTimers({ now: Date.now() + 61_000, toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  expect(textOf(await spool.claim())).toBe('abandoned')
})

test('batches that are too old or too many are deleted and counted', async () => {
  let dropped = 0
  const spool = new Spool(root, target, (count) => (dropped += count))
  await spool.write(bytesOf('old'), 3)
  const [name] = await filesIn()
  await rename(join(root, name!), join(root, name!.replace(/\d{13}/, '1000000000000')))
  const large = bytesOf('x'.repeat(30 * 1024 * 1024))
  for (let count = 0; count < 3; count += 1) await spool.write(large, 10)
  expect([dropped, (await filesIn()).length]).toEqual([13, 2])
})

test('at exit too, the oldest batches make room for new ones: 64 MB at most', async () => {
  let dropped = 0
  const spool = new Spool(root, target, (stepCount) => (dropped += stepCount))
  const text = 'x'.repeat(10 * 1024 * 1024)
  for (let index = 0; index < 9; index += 1) spool.writeSync(bytesOf(`${index}${text}`), 10)
  expect([(await filesIn()).length, dropped]).toEqual([6, 30])
  expect(textOf(await spool.claim())?.[0]).toBe('3')
  expect([spool.writeSync(bytesOf('x'.repeat(65 * 1024 * 1024)), 1), dropped]).toEqual([undefined, 30])
})

test('a batch that an earlier version spooled is sent as the JSON that it is', async () => {
  const spool = new Spool(root, target, () => undefined)
  await spool.write(bytesOf('protobuf'), 1)
  const [name] = await filesIn()
  await writeFile(join(root, name!.replace(/\d{13}/, '1000000000000').replace('1.otlp', '7.json')), '{}')
  const [earlier, later] = [await spool.claim(), await spool.claim()]
  expect([textOf(earlier), earlier?.contentType, earlier?.stepCount]).toEqual(['{}', 'application/json', 7])
  expect([textOf(later), later?.contentType]).toEqual(['protobuf', 'application/x-protobuf'])
})
