import { afterAll, beforeAll, expect, test } from 'vitest'
import { hex } from '../packages/server/test/otlp.ts'
import { startStage, takeScreenshot, type Stage } from './browser.ts'
import { actionSpan, agentSpan, chatSpan, said } from './sample-spans.ts'

let stage: Stage

beforeAll(async () => {
  stage = await startStage()
}, 240_000)

afterAll(() => stage.stop())

test('a running session fills in live, and the playhead follows until the user moves it', async () => {
  const traceId = hex(16)
  const root = hex(8)
  const startMs = Date.now() - 4_000
  const rootPlace = { traceId, spanId: root, startMs }
  await stage.post({ spans: [agentSpan(rootPlace, { name: 'support' })] })
  const { page, problems, close } = await stage.open(`/sessions/${traceId}`)
  await page.getByText('LIVE').waitFor()
  const before = await page.locator('.transport-clock b').innerText()

  const spans = ['search_orders', 'search_invoices', 'search_customers'].map((name, index) =>
    actionSpan(
      {
        traceId,
        parentSpanId: root,
        startMs: Date.now() - 900 + index * 200,
        endMs: Date.now() - 800 + index * 200,
      },
      { name, given: { number: index }, result: { count: index } },
    ),
  )
  await stage.post({ spans })
  await page.locator('.step-row', { hasText: 'search_customers' }).waitFor()
  expect(await page.locator('.step-row').count()).toBe(4)

  await expect.poll(() => page.locator('.transport-clock b').innerText()).not.toBe(before)
  await takeScreenshot(page, 'replay-live-desktop-light')
  await page.keyboard.press('ArrowLeft')
  await page.getByRole('button', { name: 'Follow' }).waitFor()
  const kept = await page.locator('.transport-clock b').innerText()
  const open = { traceId, parentSpanId: root, startMs: Date.now() - 100 }
  await stage.post({ spans: [chatSpan(open, { sent: [said('user', 'Sum it up')], answer: [] })] })
  await page.locator('.step-row', { hasText: 'gpt-4o' }).waitFor()
  expect(await page.locator('.transport-clock b').innerText()).toBe(kept)
  await page.getByRole('button', { name: 'Follow' }).click()
  await expect.poll(() => page.locator('.step-row.is-selected').innerText()).toContain('gpt-4o')
  expect(await page.locator('.state-path').innerText()).toContain('support › gpt-4o')

  await stage.post({
    spans: [
      agentSpan(
        { ...rootPlace, endMs: Date.now() },
        { name: 'support', attributes: { 'playhead.session.end_state': 'Success' } },
      ),
    ],
  })
  await page.locator('.end-state', { hasText: 'Success' }).waitFor()
  expect(await page.getByText('LIVE').count()).toBe(0)
  expect(problems).toEqual([])
  await close()
})

test('a lost session shows which steps never ended', async () => {
  const traceId = hex(16)
  await stage.post({
    spans: [actionSpan({ traceId, startMs: Date.now() - 5_000 }, { name: 'wait_forever', given: {} })],
  })
  const answer = await stage.server.session(traceId)
  const context = await stage.browser.newContext({ viewport: { width: 1440, height: 900 } })
  const page = await context.newPage()
  await page.route(new RegExp(`/api/sessions/${traceId}\\?`), (route) =>
    route.fulfill({
      json: {
        ...answer,
        session: { ...answer.session, endState: 'lost', endedAt: answer.session.startedAt, durationMs: 0 },
      },
    }),
  )
  await page.goto(`${stage.server.url}/sessions/${traceId}`)
  await page.getByText('1 step never ended.').waitFor()
  expect(await page.locator('.step-title').innerText()).toContain('never ended')
  expect(await page.locator('.missing-content').innerText()).toContain('This step never ended')
  await takeScreenshot(page, 'replay-lost-desktop-light')
  await context.close()
})

test('a comparison waits for a session, follows it while it runs, and opens at its divergence', async () => {
  const startMs = Date.now() - 4_000
  const names = ['search_orders', 'search_invoices', 'search_customers']
  const spansOf = (traceId: string, root: string, results: readonly number[]) =>
    results.map((count, index) =>
      actionSpan(
        { traceId, parentSpanId: root, startMs: startMs + index * 200, endMs: startMs + index * 200 + 100 },
        { name: names[index]!, given: { number: index }, result: { count } },
      ),
    )
  const ended = { endMs: startMs + 1_000 }
  const end = { name: 'support', attributes: { 'playhead.session.end_state': 'Success' } }
  const [a, b] = [hex(16), hex(16)]
  const [rootA, rootB] = [hex(8), hex(8)]
  await stage.post({
    spans: [
      agentSpan({ traceId: a, spanId: rootA, startMs, ...ended }, end),
      ...spansOf(a, rootA, [0, 1, 2]),
    ],
  })
  const { page, close } = await stage.open(`/compare?a=${a}&b=${b}&live=true`)
  await page.getByText('The run has started. Its first step is on its way…').waitFor()

  await stage.post({
    spans: [
      agentSpan({ traceId: b, spanId: rootB, startMs }, { name: 'support' }),
      ...spansOf(b, rootB, [0]),
    ],
  })
  await page.getByText('No divergence so far: the session still runs.').waitFor()
  expect(await page.locator('.aligned-middle').allInnerTexts()).toEqual(['=', '=', 'not yet', 'not yet'])
  expect(await page.locator('.aligned-row.is-selected').innerText()).toContain('search_orders')
  await takeScreenshot(page, 'compare-live-desktop-light')

  await stage.post({ spans: spansOf(b, rootB, [0, 7]).slice(1) })
  await page.getByText(/First divergence: step 3 search_invoices/).waitFor()
  await stage.post({ spans: [agentSpan({ traceId: b, spanId: rootB, startMs, ...ended }, end)] })
  await expect.poll(() => page.locator('.aligned-middle').last().innerText()).toBe('missing in B')
  expect(await page.locator('.aligned-row.is-selected').innerText()).toContain('search_invoices')
  await close()
})
