import type { Browser, BrowserContext, BrowserContextOptions, Page } from '@playwright/test'

/** What can be set on a page that is there already. Whoever asks for more gets a new window. */
type Appearance = Pick<BrowserContextOptions, 'viewport' | 'colorScheme' | 'reducedMotion'>

const appearance = new Set(['viewport', 'colorScheme', 'reducedMotion'])
const idle = new Set<Page>()

/** A window without cookies, stored values, routes or listeners. A new one takes three times as long as loading a page. */
export async function takePage(browser: Browser, options: BrowserContextOptions): Promise<Page> {
  const page = Object.keys(options).every((name) => appearance.has(name)) ? takeIdle() : undefined
  if (page !== undefined) return dress(page, options)
  const context = await browser.newContext(options)
  context.setDefaultTimeout(60_000)
  return context.newPage()
}

/** Leaves nothing of a test in a window that shows a page of this server. Other windows are closed. */
export async function giveBack(page: Page, server: string, options: BrowserContextOptions): Promise<void> {
  const context = page.context()
  const isOurs = page.url().startsWith(server) && context.pages().length === 1
  if (!isOurs || !Object.keys(options).every((name) => appearance.has(name))) return context.close()
  // Only those of tests: Playwright listens to its own pages too.
  for (const event of ['console', 'pageerror', 'request']) page.removeAllListeners(event)
  await page.unrouteAll()
  await page.evaluate('localStorage.clear()')
  await page.goto('about:blank')
  await context.clearCookies()
  await page.mouse.move(0, 0)
  idle.add(page)
}

export function isIdle(context: BrowserContext): boolean {
  return context.pages().some((page) => idle.has(page))
}

function takeIdle(): Page | undefined {
  const [page] = idle
  if (page !== undefined) idle.delete(page)
  return page
}

async function dress(page: Page, { viewport, colorScheme, reducedMotion }: Appearance): Promise<Page> {
  if (viewport) await page.setViewportSize(viewport)
  await page.emulateMedia({
    media: null,
    colorScheme: colorScheme ?? null,
    reducedMotion: reducedMotion ?? null,
  })
  return page
}
