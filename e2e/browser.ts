import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { chromium, type Browser, type BrowserContextOptions, type Page } from '@playwright/test'
import { startTestServer, type TestServer } from '../packages/server/test/test-server.ts'
import { tracesPayload, type SpanOptions } from '../packages/server/test/otlp.ts'
import { chromiumOptions } from './chromium-options.ts'
import { giveBack, isIdle, takePage } from './idle-pages.ts'

/** A real server with its own store, and a real browser. */
export type Stage = {
  server: TestServer
  browser: Browser
  /** Opens a window that nobody used, or one with nothing left in it. `problems` collects errors in its console and violations of its content security policy. */
  open(path: string, options?: BrowserContextOptions): Promise<OpenPage>
  /** Posts spans and waits until they can be read. */
  post(session: { spans: SpanOptions[]; resource?: Record<string, unknown> }): Promise<void>
  stop(): Promise<void>
}

export type OpenPage = { page: Page; problems: string[]; close: () => Promise<void> }

const screenshots = fileURLToPath(new URL('../artifacts/screenshots/', import.meta.url))

export const DESKTOP = { width: 1440, height: 900 }
export const PHONE = { width: 390, height: 844 }

const SPANS_A_REQUEST = 5_000

export async function startStage(environment: Record<string, string> = {}): Promise<Stage> {
  await buildDashboard()
  const [server, browser] = await Promise.all([startTestServer(environment), sharedBrowser()])
  const others = new Set(browser.contexts())
  return {
    server,
    browser,
    open: async (path, options = {}) => {
      const shown = { viewport: DESKTOP, ...options }
      const page = await takePage(browser, shown)
      const problems = watchProblems(page)
      await page.goto(/^[a-z]+:/.test(path) ? path : `${server.url}${path}`)
      return { page, problems, close: () => giveBack(page, server.url, shown) }
    },
    post: async ({ spans, resource }) => {
      for (let at = 0; at < spans.length; at += SPANS_A_REQUEST)
        await server.postTraces(tracesPayload(spans.slice(at, at + SPANS_A_REQUEST), resource))
    },
    stop: async () => {
      for (const context of browser.contexts())
        if (!others.has(context) && !isIdle(context)) await context.close()
      await server.stop()
    },
  }
}

let shared: Promise<Browser> | undefined

/** One for all test files that this process runs. It ends with the process. */
function sharedBrowser(): Promise<Browser> {
  shared ??= launchBrowser()
  return shared
}

export function launchBrowser(): Promise<Browser> {
  return chromium.launch(chromiumOptions)
}

/** Saves a screenshot for people to look at, if PLAYHEAD_SCREENSHOTS is set. */
export async function takeScreenshot(page: Page, name: string): Promise<void> {
  if (process.env.PLAYHEAD_SCREENSHOTS === undefined) return
  mkdirSync(screenshots, { recursive: true })
  await page.screenshot({ path: `${screenshots}${name}.png`, animations: 'disabled' })
}

/** Visits every tab of the page by keyboard, which is faster than by mouse. */
export async function walkTabs(page: Page, atEach?: () => Promise<void>): Promise<void> {
  const tabs = page.getByRole('tab')
  await tabs.first().focus()
  for (let left = await tabs.count(); left > 0; left -= 1) {
    await atEach?.()
    await page.keyboard.press('ArrowRight')
  }
}

function watchProblems(page: Page): string[] {
  const problems: string[] = []
  page.on('pageerror', (error) => problems.push(`error: ${error.message}`))
  page.on('console', (message) => {
    if (message.type() === 'error' || /Content.Security.Policy/i.test(message.text()))
      problems.push(message.text())
  })
  return problems
}

const builder = fileURLToPath(new URL('../scripts/build-dashboard.mjs', import.meta.url))
const lock = fileURLToPath(new URL('../artifacts/building-dashboard', import.meta.url))
const BUILT_WITHIN_MS = 120_000

/** Builds the dashboard if it is outdated. Test files run in parallel: one builds, the others wait. */
async function buildDashboard(): Promise<void> {
  mkdirSync(fileURLToPath(new URL('../artifacts/', import.meta.url)), { recursive: true })
  while (!takeLock()) await new Promise((resolve) => setTimeout(resolve, 200))
  try {
    const { status, stderr } = spawnSync(process.execPath, [builder], {
      encoding: 'utf8',
      // Test runners set another value, which would build React for development.
      env: { ...process.env, NODE_ENV: 'production' },
    })
    if (status !== 0) throw new Error(`the dashboard could not be built: ${stderr}`)
  } finally {
    rmSync(lock, { recursive: true, force: true })
  }
}

function takeLock(): boolean {
  try {
    mkdirSync(lock)
    return true
  } catch {
    const age = Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? 0)
    // The process that held the lock was killed.
    if (age > BUILT_WITHIN_MS) rmSync(lock, { recursive: true, force: true })
    return false
  }
}
