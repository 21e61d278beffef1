// Takes the screenshots in the README: the failing demo session, in light and dark (`npm run pictures`).
import { mkdir, stat } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { startStage, type Stage } from './browser.ts'

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
} finally {
  await stage.stop()
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
  await page.screenshot({ path, animations: 'disabled' })
  await close()
  const { size } = await stat(path)
  console.log(`${path}: ${Math.round(size / 1000)} kB`)
  if (size > MOST_BYTES) throw new Error(`${path} has ${size} bytes, more than ${MOST_BYTES}`)
}
