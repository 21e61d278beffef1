// Takes the screenshots in the README: the failing demo session, and how it is run again, in light and dark (`npm run pictures`).
import { mkdir, stat } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Page } from '@playwright/test'
import { startStage, type Stage } from './browser.ts'
import { startDevTerminal } from './dev-terminal.ts'

const folder = fileURLToPath(new URL('../docs/images/', import.meta.url))
const MOST_BYTES = 200_000

const stage = await startStage()
try {
  const response = await stage.server.request('/api/demo', { method: 'POST' })
  if (!response.ok) throw new Error(`the demo could not be recorded: ${await response.text()}`)
  const id = await findFailing(stage)
  await mkdir(folder, { recursive: true })
  await take(stage, id, 'light', `${folder}replay.png`)
  await take(stage, id, 'dark', `${folder}replay-dark.png`)
  await takeFork(stage, id)
} finally {
  await stage.stop()
  await stage.browser.close()
}

/** The session of the README: an action fails because its argument is null. */
async function findFailing({ server }: Stage): Promise<string> {
  const sessions = await server.sessions('limit=100&status=fail')
  const failing = sessions.find(({ endStateReason }) => /customer_id/.test(endStateReason ?? ''))
  if (failing === undefined) throw new Error('no session of the demo fails for its customer_id')
  return failing.id
}

async function take(
  { open }: Stage,
  sessionId: string,
  colorScheme: 'light' | 'dark',
  path: string,
): Promise<void> {
  const { page, close } = await open(`/sessions/${sessionId}`, { colorScheme, reducedMotion: 'reduce' })
  await page.locator('.argument.is-problem').waitFor()
  await page.locator('.message').first().waitFor()
  await save(page, path)
  await close()
}

/** Five runs from the cause with another value, and five without. */
async function takeFork({ open, server }: Stage, sessionId: string): Promise<void> {
  const terminal = await startDevTerminal(server.url)
  try {
    const viewport = { width: 1280, height: 640 }
    const { page, close } = await open(await terminal.link(), { viewport, reducedMotion: 'reduce' })
    await page.getByRole('button', { name: 'Pair' }).click()
    await page.getByText(/^Paired with/).waitFor()
    await page.goto(`${server.url}/sessions/${sessionId}`)
    await page.getByRole('button', { name: /Run from here/ }).click()
    await page.getByRole('button', { name: 'Edit it there' }).click()
    await page.getByRole('textbox', { name: 'Result' }).fill('"c_42"')
    await page.getByRole('button', { name: 'Run 5 times' }).click()
    await page
      .getByRole('dialog')
      .getByText(/5 of 5 pass; unchanged 0 of 5/)
      .waitFor({ timeout: 120_000 })
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      await save(page, `${folder}run-from-here${colorScheme === 'dark' ? '-dark' : ''}.png`)
    }
    await close()
  } finally {
    await terminal.stop()
  }
}

async function save(page: Page, path: string): Promise<void> {
  await page.screenshot({ path, animations: 'disabled' })
  const { size } = await stat(path)
  console.log(`${path}: ${Math.round(size / 1000)} kB`)
  if (size > MOST_BYTES) throw new Error(`${path} has ${size} bytes, more than ${MOST_BYTES}`)
}
