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

test('six phrasings of one question are one picture, with the branch that fails in it', async () => {
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
  await button(page, /^classify_intent to write_reply: 2 · 100 % fail/).waitFor()
  await button(page, /^classify_intent to extract_customer_id: 4$/).waitFor()
  const variants = page.getByRole('region', { name: 'Variants' }).getByRole('listitem')
  expect(await variants.allInnerTexts()).toEqual(
    expect.arrayContaining([expect.stringMatching(/33 %\s+2 sessions\s+0 % pass/)]),
  )
  expect(problems).toEqual([])
  await close()
})

test('an edge leads to its sessions, a variant that fails to the comparison with one that passes', async () => {
  const { page, close } = await openGraph()
  await button(page, /^classify_intent to write_reply/).press('Enter')
  const picked = page.getByRole('region', { name: 'Sessions through it' })
  await expect.poll(() => picked.getByRole('listitem').count()).toBe(2)
  expect(await picked.innerText()).toContain('2 of 2 failed')
  expect(new URL(page.url()).searchParams.get('pick')).toBe('action classify_intent → action write_reply')

  await page.getByRole('link', { name: 'compare with a passing one' }).first().click()
  await page.locator('.divergence-first').waitFor()
  expect(await page.locator('.divergence-first').innerText()).toContain(
    'the model replied "general" instead of "billing"',
  )
  await close()
})

test('two sessions that are shift-clicked are compared', async () => {
  const { page, close } = await openGraph()
  await button(page, /^Start 6 sessions/).press('Enter')
  const sessions = page.getByRole('region', { name: 'Sessions through it' }).getByRole('link')
  await sessions.nth(0).click({ modifiers: ['Shift'] })
  await sessions.nth(1).click({ modifiers: ['Shift'] })
  await expect.poll(() => new URL(page.url()).pathname).toBe('/compare')
  await close()
})

test('steps, figures and detail are chosen, and the address keeps them', async () => {
  const { page, close } = await openGraph()
  await page.getByRole('radio', { name: 'Failures' }).click()
  await button(page, /^classify_intent 2 of 6 failed/).waitFor()
  await page.getByRole('slider').fill('50')
  await expect.poll(() => nodeNames(page)).not.toContain('Fail')
  await page.getByRole('radio', { name: 'Only what writes' }).click()
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

test('the list and a test lead to the graph of their sessions', async () => {
  const { page, close } = await stage.open('/sessions')
  await page.getByRole('link', { name: 'Graph' }).click()
  await page.locator('.graph-node').first().waitFor()
  expect(new URL(page.url()).pathname).toBe('/graph')
  await close()
})

test('looks right on a desk and in a hand, by day and by night, and axe finds nothing', async () => {
  const { page, problems, close } = await openGraph({ reducedMotion: 'reduce' })
  await expectGoodLooks(page, 'graph')
  expect(problems).toEqual([])
  await close()
})
