import type { Page } from '@playwright/test'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { billingTest, recordBillingVariants } from './billing-variants.ts'
import { startStage, type Stage } from './browser.ts'
import { expectGoodLooks } from './expect-good-looks.ts'

let stage: Stage
beforeAll(async () => {
  stage = await startStage()
  await recordBillingVariants(stage.server.url)
})
afterAll(() => stage.stop())

const filter = `test:"${billingTest.suite} > ${billingTest.name}"`
const graphPath = (more = '') => `/graph?q=${encodeURIComponent(`${filter}${more}`)}`
const nodeNames = (page: Page) => page.locator('.graph-node-name').allTextContents()
const button = (page: Page, name: RegExp) => page.locator('.graph-canvas').getByRole('button', { name })

async function openGraph(options: Parameters<Stage['open']>[1] = {}, path = graphPath(' runId:run-2')) {
  const opened = await stage.open(path, options)
  await opened.page.locator('.graph-node').first().waitFor()
  return opened
}

test('six phrasings of one question are one graph that shows the failing branch', async () => {
  const { page, problems, close } = await openGraph()
  await expect
    .poll(() => nodeNames(page))
    .toEqual(
      expect.arrayContaining([
        'Start',
        'classify_intent',
        'extract_customer_id',
        'fetch_customer_data',
        'write_reply',
        'Success',
        'Fail',
      ]),
    )
  await button(page, /^classify_intent to write_reply: 2 · 100% fail/).waitFor()
  await button(page, /^classify_intent to extract_customer_id: 4$/).waitFor()
  const variants = page.getByRole('region', { name: 'Variants' }).getByRole('listitem')
  expect(await variants.allInnerTexts()).toEqual(
    expect.arrayContaining([expect.stringMatching(/33%\s+2 sessions\s+0% pass/)]),
  )
  expect(problems).toEqual([])
  await close()
})

test('an edge shows its sessions, and a failing variant links to a comparison with a passing one', async () => {
  const { page, close } = await openGraph()
  await button(page, /^classify_intent to write_reply/).press('Enter')
  const picked = page.getByRole('region', { name: 'Sessions' })
  await expect.poll(() => picked.getByRole('listitem').count()).toBe(2)
  expect(await picked.innerText()).toContain('2 of 2 failed')
  expect(new URL(page.url()).searchParams.get('pick')).toBe('action classify_intent → action write_reply')

  await page.getByRole('link', { name: 'Compare with a passing session' }).first().click()
  await page.locator('.divergence-first').waitFor()
  expect(await page.locator('.divergence-first').innerText()).toContain(
    'the model replied "general" instead of "billing"',
  )
  await close()
})

test('shift-clicking two sessions compares them', async () => {
  const { page, close } = await openGraph()
  await button(page, /^Start 6 sessions/).press('Enter')
  const sessions = page.getByRole('region', { name: 'Sessions' }).getByRole('link')
  await sessions.nth(0).click({ modifiers: ['Shift'] })
  await sessions.nth(1).click({ modifiers: ['Shift'] })
  await expect.poll(() => new URL(page.url()).pathname).toBe('/compare')
  await close()
})

test('the address keeps the steps, the metric and the detail', async () => {
  const { page, close } = await openGraph()
  await page.getByRole('radio', { name: 'Failures' }).click()
  await button(page, /^classify_intent 2 of 6 failed/).waitFor()
  await page.getByRole('slider').fill('50')
  await expect.poll(() => nodeNames(page)).not.toContain('Fail')
  await page.getByRole('radio', { name: 'Only actions that write' }).click()
  await expect.poll(() => nodeNames(page)).not.toContain('classify_intent')
  const { searchParams } = new URL(page.url())
  expect(['metric', 'detail', 'of'].map((name) => searchParams.get(name))).toEqual([
    'failure',
    '50',
    'effects',
  ])
  await page.reload()
  await page.locator('.graph-node').first().waitFor()
  expect(await nodeNames(page)).not.toContain('classify_intent')
  await close()
})

test('the sessions list links to the graph of its sessions', async () => {
  const { page, close } = await stage.open('/sessions')
  await page.getByRole('link', { name: 'Graph' }).click()
  await page.locator('.graph-node').first().waitFor()
  expect(new URL(page.url()).pathname).toBe('/graph')
  await close()
})

test('looks right on desktop and phone, in light and dark, without accessibility violations', async () => {
  const { page, problems, close } = await openGraph({ reducedMotion: 'reduce' })
  await expectGoodLooks(page, 'graph')
  expect(problems).toEqual([])
  await close()
})
