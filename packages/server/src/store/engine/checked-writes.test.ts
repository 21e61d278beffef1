import { truncateSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest'
import { withCheckedWrites } from './checked-writes.ts'
import { openEngine, type Engine } from './open-engine.ts'

const MB = 1024 ** 2
const LOW = 500 * MB
const PLENTY = 5_000 * MB

const directory = await mkdtemp(join(tmpdir(), 'playhead-writes-'))
const engine = openEngine(join(directory, 'tables'))
afterAll(async () => {
  await engine.close()
  await rm(directory, { recursive: true })
})

let freeBytes: number
let checked: Engine
let ends: string[]
let lows: number[]
let statements: string[]
/** The part whose file is truncated as soon as it exists, as the engine leaves it on a full disk. */
let cutNext: string | undefined
let isAway: boolean

const disk: Engine = {
  ...engine,
  async run(statement, prepare) {
    statements.push(statement)
    if (isAway && !statement.startsWith('INSERT')) throw new Error('away')
    const result = await engine.run(statement, prepare)
    if (cutNext !== undefined && statement.startsWith('INSERT')) await cutShort(cutNext)
    return result
  },
  close: async () => undefined,
}

beforeEach(async () => {
  ;[freeBytes, ends, lows, statements, cutNext, isAway] = [LOW, [], [], [], undefined, false]
  await engine.run('DROP TABLE IF EXISTS kept SYNC', [])
  await engine.run('CREATE TABLE kept (n UInt32) ENGINE = MergeTree ORDER BY n', [])
  // A check between an insert and `cutShort` would find the part whole, which it never is on a full disk.
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  checked = withCheckedWrites(disk, {
    freeBytes: async () => freeBytes,
    onLow: (left) => void lows.push(left),
    endProcess: async (reason) => {
      ends.push(reason)
      throw new Error('ended')
    },
  })
})
afterEach(async () => {
  await checked.close()
  vi.useRealTimers()
})

async function cutShort(part: string): Promise<void> {
  const path = await ask(`SELECT path FROM system.parts WHERE table = 'kept' AND name = '${part}'`)
  truncateSync(join(path, 'data.bin'), 5)
}

async function ask(statement: string): Promise<string> {
  const { bytes } = await engine.run(statement, [])
  return Buffer.from(bytes).toString().trim()
}

test('does not report an insert with truncated files as done', async () => {
  await checked.run('INSERT INTO kept VALUES (1)', [])
  cutNext = 'all_2_2_0'

  await expect(checked.run('INSERT INTO kept VALUES (2)', [])).rejects.toThrow('ended')

  expect(ends).toEqual([expect.stringContaining('all_2_2_0')])
})

test('finds a truncated merge while the merged parts still exist', async () => {
  for (const n of [1, 2]) await checked.run(`INSERT INTO kept VALUES (${n})`, [])
  await engine.run('OPTIMIZE TABLE kept FINAL', [])
  await cutShort('all_1_2_1')

  vi.advanceTimersByTime(1_000)
  await expect.poll(() => ends[0]).toContain('all_1_2_1')

  expect(await ask(`SELECT count() FROM system.parts WHERE table = 'kept' AND NOT active`)).toBe('2')
})

test('does not report an insert as done when it cannot be checked', async () => {
  isAway = true

  await expect(checked.run('INSERT INTO kept VALUES (1)', [])).rejects.toThrow('ended')

  expect(ends).toEqual(['away'])
})

test('reads every part once', async () => {
  for (const n of [1, 2, 3]) await checked.run(`INSERT INTO kept VALUES (${n})`, [])

  const read = statements.filter((statement) => statement.startsWith('CHECK TABLE'))
  expect(new Set(read).size).toBe(read.length)
  expect(read).toHaveLength(3)
  expect(lows).toEqual([LOW])
  expect(ends).toEqual([])
})

test('keeps checking for a while after space was freed', async () => {
  await checked.run('INSERT INTO kept VALUES (1)', [])
  freeBytes = PLENTY
  cutNext = 'all_2_2_0'

  await expect(checked.run('INSERT INTO kept VALUES (2)', [])).rejects.toThrow('ended')
})

test('checks nothing on a disk with enough space', async () => {
  freeBytes = PLENTY

  await checked.run('INSERT INTO kept VALUES (1)', [])

  expect(statements).toEqual(['INSERT INTO kept VALUES (1)'])
})

test('reads from a full disk but does not write to it', async () => {
  await checked.run('INSERT INTO kept VALUES (1)', [])
  freeBytes = 10 * MB

  for (const statement of [
    '/* id */ INSERT INTO kept VALUES (2)',
    'DELETE FROM kept WHERE n = 1',
    'ALTER TABLE kept DELETE WHERE n = 1',
    'CREATE TABLE IF NOT EXISTS other (n UInt32) ENGINE = MergeTree ORDER BY n',
  ])
    await expect(checked.run(statement, [])).rejects.toThrow('NOT_ENOUGH_SPACE')
  await checked.run('CREATE TABLE IF NOT EXISTS kept (n UInt32) ENGINE = MergeTree ORDER BY n', [])
  const { bytes } = await checked.run('SELECT count() FROM kept', [])
  expect(Buffer.from(bytes).toString()).toBe('1\n')
})
