import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** Runs a script of the repository as people do, and gives how it ended and what it said. */
async function runScript(name: string, ...args: string[]): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, ['--conditions=playhead-source', `scripts/${name}`, ...args], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)))
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { code, output }
}

test('the prices that Python has are those of the table', async () => {
  expect(await runScript('write-python-prices.mjs', '--check')).toEqual({ code: 0, output: '' })
})

// The first run installs pytest and the SDKs.
test('the Python package passes its tests', { timeout: 400_000 }, async () => {
  const run = await runScript('test-python.mjs')
  process.stdout.write(run.output)
  expect(run).toMatchObject({ code: 0 })
})
