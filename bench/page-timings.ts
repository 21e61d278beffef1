import { setTimeout as sleep } from 'node:timers/promises'
import type { Browser, Page } from '@playwright/test'

export type Look = { name: string; path: string }

/** Milliseconds since the navigation began, by the browser's own clock. */
export type Timing = { rowsMs: number; chartsMs: number; listAnswerMs: number }

const PATIENCE_MS = 60_000
const LOOK_EVERY_MS = 50

/** Opens each look some times, in turns, so that what else the machine does hits all alike. The first turn warms up. */
export async function measureLooks(
  browser: Browser,
  url: string,
  looks: readonly Look[],
  turns: number,
  onProgress: (share: number) => void,
): Promise<Map<string, Timing[]>> {
  const timings = new Map<string, Timing[]>(looks.map(({ name }) => [name, []]))
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
  for (let turn = 0; turn <= turns; turn += 1) {
    for (const [index, look] of looks.entries()) {
      const page = await context.newPage()
      await page.addInitScript({ content: watchPaints })
      await page.goto(`${url}${look.path}`)
      const timing = await readTiming(page)
      await page.close()
      if (turn > 0) timings.get(look.name)!.push(timing)
      onProgress((turn * looks.length + index + 1) / ((turns + 1) * looks.length))
    }
  }
  await context.close()
  return timings
}

/** Runs in the page: notes when the first row, and the figures above, have been painted. */
const watchPaints = `(() => {
  const watched = (globalThis.watched = {})
  const seen = new Set()
  const look = (name, selector) => {
    if (seen.has(name) || document.querySelector(selector) === null) return
    seen.add(name)
    // A frame after the one in which it was put there, it is on the screen.
    requestAnimationFrame(() => requestAnimationFrame(() => (watched[name] = performance.now())))
  }
  new MutationObserver(() => {
    look('rowsMs', '.session-rows .session-row, .nothing-found')
    look('chartsMs', '.bucket-chart rect, .nothing-found')
  }).observe(document, { childList: true, subtree: true })
})()`

async function readTiming(page: Page): Promise<Timing> {
  const patienceEndsMs = performance.now() + PATIENCE_MS
  while (!(await page.evaluate('watched.rowsMs !== undefined && watched.chartsMs !== undefined'))) {
    if (performance.now() > patienceEndsMs) {
      const shown = await page.locator('body').innerText()
      throw new Error(`${page.url()} shows no rows, but: ${shown.slice(0, 300)}`)
    }
    await sleep(LOOK_EVERY_MS)
  }
  return page.evaluate(`(() => {
    const list = performance.getEntriesByType('resource').find(({ name }) => name.includes('/api/sessions'))
    return { ...watched, listAnswerMs: list?.duration ?? NaN }
  })()`)
}
