import { setTimeout as sleep } from 'node:timers/promises'
import type { Browser, Page } from '@playwright/test'

export type View = { name: string; path: string }

/** Milliseconds since the start of the navigation, by the browser's own clock. */
export type Timing = { rowsMs: number; chartsMs: number; listResponseMs: number }

const PATIENCE_MS = 60_000
const LOOK_EVERY_MS = 50

/** Opens all views in rounds, so that other load on the machine affects all of them equally. The first round is a warm-up. */
export async function measureViews(
  browser: Browser,
  url: string,
  views: readonly View[],
  rounds: number,
  onProgress: (share: number) => void,
): Promise<Map<string, Timing[]>> {
  const timings = new Map<string, Timing[]>(views.map(({ name }) => [name, []]))
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
  for (let round = 0; round <= rounds; round += 1) {
    for (const [index, view] of views.entries()) {
      const page = await context.newPage()
      await page.addInitScript({ content: watchPaints })
      await page.goto(`${url}${view.path}`)
      const timing = await readTiming(page)
      await page.close()
      if (round > 0) timings.get(view.name)!.push(timing)
      onProgress((round * views.length + index + 1) / ((rounds + 1) * views.length))
    }
  }
  await context.close()
  return timings
}

/** Runs in the page: records when the first row and the charts were painted. */
const watchPaints = `(() => {
  const watched = (globalThis.watched = {})
  const seen = new Set()
  const view = (name, selector) => {
    if (seen.has(name) || document.querySelector(selector) === null) return
    seen.add(name)
    // An element is on the screen one frame after it was added.
    requestAnimationFrame(() => requestAnimationFrame(() => (watched[name] = performance.now())))
  }
  new MutationObserver(() => {
    view('rowsMs', '.session-rows .session-row, .nothing-found')
    view('chartsMs', '.bucket-chart rect, .nothing-found')
  }).observe(document, { childList: true, subtree: true })
})()`

async function readTiming(page: Page): Promise<Timing> {
  const patienceEndsMs = performance.now() + PATIENCE_MS
  while (!(await page.evaluate('watched.rowsMs !== undefined && watched.chartsMs !== undefined'))) {
    if (performance.now() > patienceEndsMs) {
      const shown = await page.locator('body').innerText()
      throw new Error(`${page.url()} shows no rows. It shows: ${shown.slice(0, 300)}`)
    }
    await sleep(LOOK_EVERY_MS)
  }
  return page.evaluate(`(() => {
    const list = performance.getEntriesByType('resource').find(({ name }) => name.includes('/api/sessions'))
    return { ...watched, listResponseMs: list?.duration ?? NaN }
  })()`)
}
