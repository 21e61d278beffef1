import { afterAll, beforeAll, expect, test } from 'vitest'
import { session } from '../packages/server/test/project-server.ts'
import { hex } from '../packages/server/test/otlp.ts'
import { PHONE, startStage, type Stage } from './browser.ts'

const SESSIONS = 200
/** How many of them are opened one after the other; PLAYHEAD_REVIEW=all opens all. */
const WALKED = process.env.PLAYHEAD_REVIEW === 'all' ? SESSIONS : 12

let stage: Stage
beforeAll(async () => {
  stage = await startStage()
  const now = Date.now()
  const spans = Array.from({ length: SESSIONS }, (_, index) =>
    session({
      traceId: hex(16),
      name: `answer ${index}`,
      tags: ['review'],
      startMs: now - 60_000 - index * 1_000,
    }),
  )
  spans.push(session({ name: 'other', startMs: now - 1_000 }))
  await stage.post({ spans: spans.flat() })
})
afterAll(() => stage.stop())

test('somebody goes through a filtered list of 200 with the keyboard alone', async () => {
  const { page, problems, close } = await stage.open('/sessions?q=tag%3Areview')
  await page.getByRole('link', { name: 'Review' }).focus()
  await page.keyboard.press('Enter')
  const title = page.getByRole('heading', { level: 1 })
  await expect.poll(() => title.textContent()).toBe('answer 0')
  const progress = page.getByRole('status').filter({ hasText: 'reviewed' })
  await expect.poll(() => progress.textContent()).toBe(`1 of ${SESSIONS} · 0 reviewed`)

  // A verdict with a note, then the next session.
  await page.keyboard.press('n')
  await page.keyboard.type('the refund is missing')
  await page.keyboard.press('Enter')
  await expect.poll(() => title.textContent()).toBe('answer 1')
  // A verdict without one.
  await page.keyboard.press('y')
  await page.keyboard.press('Enter')
  await expect.poll(() => title.textContent()).toBe('answer 2')
  await expect.poll(() => progress.textContent()).toBe(`3 of ${SESSIONS} · 2 reviewed`)
  // One that is taken back at once, about a step only.
  await page.keyboard.press('Shift+U')
  await page.keyboard.press('Escape')
  await page.keyboard.press('k')
  await page.keyboard.press('k')
  await expect.poll(() => title.textContent()).toBe('answer 0')
  await page.getByRole('list', { name: 'Scores' }).getByText('the refund is missing').waitFor()
  for (let index = 1; index < WALKED; index += 1) {
    await page.keyboard.press('j')
    await expect.poll(() => title.textContent(), { interval: 20, timeout: 20_000 }).toBe(`answer ${index}`)
  }
  await expect.poll(() => progress.textContent()).toBe(`${WALKED} of ${SESSIONS} · 2 reviewed`)

  expect((await stage.server.sessions('score=verdict=wrong')).map(({ name }) => name)).toEqual(['answer 0'])
  expect(await stage.server.sessions('score=!verdict&limit=1000')).toHaveLength(SESSIONS - 2)
  expect(problems).toEqual([])
  await close()
}, 300_000)

test('scores are in the list, charted and sorted by once the filter names one', async () => {
  const [first, second] = await stage.server.sessions('limit=2')
  const give = (id: string, value: number) =>
    stage.server.request(`/api/sessions/${id}/scores`, { json: { name: 'helpful', value } })
  await give(first!.id, 0.25)
  await give(second!.id, 0.75)
  const { page, problems, close } = await stage.open('/sessions')
  await page.getByRole('button', { name: 'helpful 0.25' }).click()
  await page.getByText('Mean helpful', { exact: true }).waitFor()
  const values = () => page.locator('.session-score', { hasText: 'helpful' }).allTextContents()
  await page.getByRole('button', { name: 'helpful', exact: true }).click()
  await expect.poll(values).toEqual(['helpful 0.75', 'helpful 0.25'])
  expect(problems).toEqual([])
  await close()
})

test('the verdict fits a phone', async () => {
  const [{ id } = { id: '' }] = await stage.server.sessions('limit=1')
  const { page, close } = await stage.open(`/sessions/${id}`, { viewport: PHONE })
  await page.getByRole('button', { name: 'Wrong' }).click()
  await page.getByLabel('Note on the session').waitFor()
  const width = await page.evaluate('document.documentElement.scrollWidth')
  expect(width).toBeLessThanOrEqual(390)
  await close()
})
