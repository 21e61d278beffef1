import type { Page } from '@playwright/test'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { SessionSummary } from '@playhead/model'
import { billingTest, recordBillingVariants } from './billing-variants.ts'
import { startStage, type Stage } from './browser.ts'
import { expectGoodLooks } from './expect-good-looks.ts'

let stage: Stage
let sessions: SessionSummary[]
beforeAll(async () => {
  stage = await startStage()
  await recordBillingVariants(stage.server.url)
  sessions = await stage.server.sessions()
})
afterAll(() => stage.stop())

const find = (endState: string, variant: string) =>
  sessions.find((session) => session.endState === endState && session.test?.variant?.includes(variant))!

const selected = (page: Page) => page.locator('.aligned-row.is-selected')

async function openComparison(options: Parameters<Stage['open']>[1] = {}) {
  const [passed, failed] = [find('success', 'two charges'), find('fail', 'two charges')]
  const opened = await stage.open(`/compare?a=${passed.id}&b=${failed.id}`, options)
  await opened.page.locator('.divergence-first').waitFor()
  return { ...opened, passed, failed }
}

test('opens at the first divergence and describes it', async () => {
  const { page, problems, close } = await openComparison()
  expect(await page.locator('.divergence-first').innerText()).toMatch(
    /First divergence: step \d+ classify_intent, argument instructions "Answer with one word/,
  )
  expect(await selected(page).innerText()).toContain('first divergence')
  expect(await selected(page).isVisible()).toBe(true)
  expect(await page.locator('.row-detail').innerText()).toContain('argument instructions')
  expect(problems).toEqual([])
  await close()
})

test('n and p step through the differences, and the address keeps the step', async () => {
  const { page, close } = await openComparison()
  const first = await selected(page).innerText()
  await page.keyboard.press('n')
  await expect.poll(() => selected(page).innerText()).not.toBe(first)
  await expect.poll(() => new URL(page.url()).searchParams.get('step')).not.toBeNull()
  const second = await selected(page).innerText()
  await page.reload()
  await expect.poll(() => selected(page).innerText()).toBe(second)
  await page.keyboard.press('p')
  await expect.poll(() => selected(page).innerText()).toBe(first)
  await close()
})

test('prompts are compared word by word', async () => {
  const { page, close } = await openComparison()
  await page.keyboard.press('n')
  const removed = page.locator('.row-detail del').first()
  await removed.waitFor()
  expect(await page.locator('.row-detail del').allInnerTexts()).toContainEqual(
    expect.stringContaining('Billing is anything about charges'),
  )
  await close()
})

test('dragging one playhead moves the other to the matching step', async () => {
  const { page, close } = await openComparison()
  const [a, b] = [page.getByRole('slider').first(), page.getByRole('slider').last()]
  const before = await b.getAttribute('aria-valuenow')
  const box = (await a.boundingBox())!
  await page.mouse.move(box.x + box.width * 0.5, box.y + 8)
  await page.mouse.down()
  await page.mouse.move(box.x + 2, box.y + 8, { steps: 4 })
  await page.mouse.up()
  await expect.poll(() => b.getAttribute('aria-valuenow')).not.toBe(before)
  expect(await selected(page).getAttribute('id')).toMatch(/^aligned-[0-2]$/)
  await close()
})

test('rows can be filtered by differences and by effects', async () => {
  const { page, close } = await openComparison()
  const rows = page.locator('.aligned-row')
  const all = await rows.count()
  await page.getByRole('radio', { name: 'Differences' }).click()
  await expect.poll(() => rows.count()).toBeLessThan(all)
  await page.getByRole('radio', { name: 'Only actions that write' }).click()
  await page.getByText('Neither session has an effect').waitFor()
  expect(new URL(page.url()).searchParams.get('show')).toBe('effects')
  await close()
})

test('two sessions selected in the list are compared', async () => {
  const { page, close } = await stage.open('/sessions')
  await page.locator('.session-rows .session-row').first().focus()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('x')
  await page.keyboard.press('Shift+ArrowDown')
  await page.getByText('2 selected').waitFor()
  await page.getByRole('link', { name: 'Compare' }).click()
  await page.locator('.divergence-first').waitFor()
  expect(new URL(page.url()).pathname).toBe('/compare')
  await close()
})

test('the replay of a failed test links to a comparison with the last run that passed', async () => {
  const { passed, failed, close: closeFirst } = await openComparison()
  await closeFirst()
  const { page, problems, close } = await stage.open(`/sessions/${failed.id}`)
  await page.getByRole('link', { name: /Compare/ }).click()
  await page.locator('.divergence-first').waitFor()
  const address = new URL(page.url())
  expect([address.searchParams.get('a'), address.searchParams.get('b')]).toEqual([passed.id, failed.id])
  expect(passed.test?.name).toBe(billingTest.name)
  expect(problems).toEqual([])
  await close()
})

test('the replay shows where the arguments of an action came from, and links there', async () => {
  const passed = find('success', 'my account c_42')
  const { steps } = await stage.server.session(passed.id)
  const [fetch, extract] = ['fetch_customer_data', 'extract_customer_id'].map((name) =>
    steps.find((step) => step.name === name),
  )
  const { page, problems, close } = await stage.open(`/sessions/${passed.id}?step=${fetch!.id}`)
  const origin = page.getByRole('button', {
    name: /from the user's message, via step \d extract_customer_id/,
  })
  await origin.click()
  await expect.poll(() => new URL(page.url()).searchParams.get('step')).toBe(extract!.id)
  expect(problems).toEqual([])
  await close()
})

test('looks right on desktop and phone, in light and dark, without accessibility violations', async () => {
  const { page, problems, close } = await openComparison({ reducedMotion: 'reduce' })
  await expectGoodLooks(page, 'compare')
  expect(problems).toEqual([])
  await close()
})
