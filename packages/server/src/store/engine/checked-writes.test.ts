import { truncateSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest'
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

let room: number
let checked: Engine
let ends: string[]
let lows: number[]
let statements: string[]
/** The part whose file is cut short as soon as it is there, as the engine leaves it on a full disk. */
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
  ;[room, ends, lows, statements, cutNext, isAway] = [LOW, [], [], [], undefined, false]
  await engine.run('DROP TABLE IF EXISTS kept SYNC', [])
  await engine.run('CREATE TABLE kept (n UInt32) ENGINE = MergeTree ORDER BY n', [])
  checked = withCheckedWrites(disk, {
    room: async () => room,
    onLow: (left) => void lows.push(left),
    endProcess: async (reason) => {
      ends.push(reason)
      throw new Error('ended')
    },
  })
})
afterEach(() => checked.close())

async function cutShort(part: string): Promise<void> {
  const path = await ask(`SELECT path FROM system.parts WHERE table = 'kept' AND name = '${part}'`)
  truncateSync(join(path, 'data.bin'), 5)
}

async function ask(statement: string): Promise<string> {
  const { bytes } = await engine.run(statement, [])
  return Buffer.from(bytes).toString().trim()
}

test('an insert whose files were cut short is not called done', async () => {
  await checked.run('INSERT INTO kept VALUES (1)', [])
  cutNext = 'all_2_2_0'

  await expect(checked.run('INSERT INTO kept VALUES (2)', [])).rejects.toThrow('ended')

  expect(ends).toEqual([expect.stringContaining('all_2_2_0')])
})

test('a merge that was cut short is found while what it was made of is still there', async () => {
  for (const n of [1, 2]) await checked.run(`INSERT INTO kept VALUES (${n})`, [])
  await engine.run('OPTIMIZE TABLE kept FINAL', [])
  await cutShort('all_1_2_1')

  await expect.poll(() => ends[0]).toContain('all_1_2_1')

  expect(await ask(`SELECT count() FROM system.parts WHERE table = 'kept' AND NOT active`)).toBe('2')
})

test('an insert that nobody can look at is not called done either', async () => {
  isAway = true

  await expect(checked.run('INSERT INTO kept VALUES (1)', [])).rejects.toThrow('ended')

  expect(ends).toEqual(['away'])
})

test('every part is read once', async () => {
  for (const n of [1, 2, 3]) await checked.run(`INSERT INTO kept VALUES (${n})`, [])

  const read = statements.filter((statement) => statement.startsWith('CHECK TABLE'))
  expect(new Set(read).size).toBe(read.length)
  expect(read).toHaveLength(3)
  expect(lows).toEqual([LOW])
  expect(ends).toEqual([])
})

test('what is written goes on being read for a while when there is room again', async () => {
  await checked.run('INSERT INTO kept VALUES (1)', [])
  room = PLENTY
  cutNext = 'all_2_2_0'

  await expect(checked.run('INSERT INTO kept VALUES (2)', [])).rejects.toThrow('ended')
})

test('on a disk with room nothing is read again', async () => {
  room = PLENTY

  await checked.run('INSERT INTO kept VALUES (1)', [])

  expect(statements).toEqual(['INSERT INTO kept VALUES (1)'])
})

test('a full disk is read from and not written to', async () => {
  await checked.run('INSERT INTO kept VALUES (1)', [])
  room = 10 * MB

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
