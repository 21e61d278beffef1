import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test, vi } from 'vitest'
import { openEngine } from './open-engine.ts'

const directory = await mkdtemp(join(tmpdir(), 'playhead-engine-'))
const engine = openEngine(join(directory, 'tables'))
afterAll(async () => {
  await engine.close()
  await rm(directory, { recursive: true })
})

async function ask(statement: string, prepare: string[]): Promise<string> {
  const { bytes } = await engine.run(statement, prepare)
  return Buffer.from(bytes).toString().trim()
}

test('the session of the next statement is prepared, whatever database earlier ones used', async () => {
  for (const name of ['one', 'two']) await engine.run(`CREATE DATABASE ${name}`, [])

  for (const name of ['one', 'two', 'two', 'one']) {
    const use = `USE \`${name}\``
    const set = `SET param_text = 'of ${name}; SELECT 1', max_threads = 1`
    expect(await ask("SELECT currentDatabase(), {text:String}, getSetting('max_threads')", [use, set])).toBe(
      `${name}\tof ${name}; SELECT 1\t1`,
    )
    await vi.waitFor(() => expect(engine.prepared()).toBe(use))
  }
})

test('a statement that fails leaves nothing to the next one', async () => {
  const use = ['USE `one`']
  await expect(ask('SELECT throwIf(number = 70000) FROM numbers(100000)', use)).rejects.toThrow(
    'FUNCTION_THROW',
  )
  await expect(ask('SELECT 1', [...use, 'SET unknown_setting_name = 1'])).rejects.toThrow('UNKNOWN_SETTING')

  expect(await ask('SELECT 2', use)).toBe('2')
})
