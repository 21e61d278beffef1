import { execFile } from 'node:child_process'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { chromiumOptions } from './chromium-options.ts'

const modules = fileURLToPath(new URL('../node_modules', import.meta.url))

const files = {
  'package.json': '{ "type": "module" }',
  'playwright.config.ts': `import { defineConfig } from '@playwright/test'
const executablePath = process.env.PLAYHEAD_CHROMIUM
export default defineConfig({ reporter: 'line', use: { launchOptions: { executablePath, args: ['--no-sandbox'] } } })`,
  'look.spec.ts': `import * as playhead from 'playhead'
import { expectSession, test } from 'playhead/playwright'
test.use({ cassette: true })
const look = playhead.recordTool('look', async (id: string) => ({ id, at: Math.random() }))
test('looks', async ({ session, inSession }) => {
  console.log('looked at', JSON.stringify(await inSession(() => look('c_1'))))
  expectSession(session).toHaveCalled('look', { args: ['c_1'] })
  if (process.env.MORE) await inSession(() => look('c_2').catch(() => undefined))
})`,
}

test('in Playwright, a cassette answers what runs inside the session', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'playhead-playwright-cassette-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }))
  await symlink(modules, join(folder, 'node_modules'))
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  const run = (environment: Record<string, string>) =>
    new Promise<string>((resolve) => {
      const env = {
        PATH: process.env.PATH ?? '',
        HOME: process.env.HOME ?? '',
        NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
        NODE_OPTIONS: '--conditions=playhead-source',
        PLAYHEAD_CHROMIUM: chromiumOptions.executablePath,
        ...environment,
      }
      execFile(
        process.execPath,
        ['node_modules/@playwright/test/cli.js', 'test'],
        { cwd: folder, env },
        (_, out, err) => resolve(out + err),
      )
    })
  const recorded = await run({ PLAYHEAD_CASSETTE: 'fill' })
  expect(recorded).toContain('__cassettes__/look.spec.ts/looks.jsonl added: 0 model calls and 1 action')
  const [said] = /looked at .*/.exec(recorded) ?? []
  const strict = await run({ PLAYHEAD_CASSETTE: 'strict', MORE: 'yes' })
  expect(strict).toContain(said)
  expect(strict).toContain('has no answer. look was called with other arguments than recorded')
  expect(strict).toContain('1 failed')
})
