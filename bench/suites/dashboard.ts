import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Browser, Page } from '@playwright/test'
import { launchBrowser } from '../../e2e/browser.ts'
import { longSession } from '../../e2e/sample-extremes.ts'
import type { SampleSession } from '../../e2e/sample-spans.ts'
import { tracesPayload } from '../../packages/server/test/otlp.ts'
import { startBenchServer, type BenchServer } from '../server/bench-server.ts'
import { withDataDirectory } from '../harness/data-directory.ts'
import { describeMachine } from '../harness/machine.ts'
import { percentile } from '../harness/percentile.ts'
import type { Progress } from '../harness/progress.ts'
import type { Figure, Report } from '../harness/report.ts'

const builder = fileURLToPath(new URL('../../scripts/build-dashboard.mjs', import.meta.url))
const FRAME_MS = 1000 / 60
const DRAG_MS = 5_000
const OPENINGS = 5
const SPANS_PER_REQUEST = 5_000

/**
 * Measures the replay page in a real browser: how smoothly the playhead moves over 10,000 steps, according to the browser's
 * own tracing, and how long a session of 100,000 steps takes to open and how much memory it needs.
 */
export async function runDashboardSuite(
  { data }: { data: string | undefined },
  progress: Progress,
): Promise<Report> {
  const machine = describeMachine()
  execFileSync(process.execPath, [builder], { stdio: 'inherit' })
  return withDataDirectory(data, async (directory) => {
    const server = await startBenchServer(directory)
    const browser = await launchBrowser()
    try {
      const tenThousand = longSession(10_000)
      const hundredThousand = longSession(100_000)
      await fill(server, [tenThousand, hundredThousand], progress)
      const figures = [
        ...(await measureDrag(browser, addressOf(server, tenThousand), progress)),
        ...(await measureOpening(browser, server, hundredThousand, progress)),
      ]
      return { suite: 'dashboard', machine, figures }
    } finally {
      await browser.close()
      await server.stop()
    }
  })
}

function addressOf(server: BenchServer, { traceId }: SampleSession): string {
  return `${server.url}/sessions/${traceId}`
}

async function fill(
  server: BenchServer,
  sessions: readonly SampleSession[],
  progress: Progress,
): Promise<void> {
  for (const { traceId, spans, resource } of sessions) {
    for (let at = 0; at < spans.length; at += SPANS_PER_REQUEST) {
      progress.show('sending sessions', at / spans.length)
      await sendPatiently(
        server,
        JSON.stringify(tracesPayload(spans.slice(at, at + SPANS_PER_REQUEST), resource)),
      )
    }
    for (let count = 0; count < spans.length;) {
      await pause(500)
      const session = await server.api.get<{ steps: unknown[] }>(`/api/sessions/${traceId}?payloads=none`)
      count = session.steps.length
    }
  }
}

/** The server refuses what it can't store in time. */
async function sendPatiently({ api }: BenchServer, body: string): Promise<void> {
  for (;;) {
    const { status, text } = await api.send('POST', '/v1/traces', body)
    if (status === 200) return
    if (status !== 503) throw new Error(`POST /v1/traces: ${status} ${text.slice(0, 300)}`)
    await pause(500)
  }
}

type TraceEvent = {
  name: string
  ph: string
  pid: number
  tid: number
  ts: number
  dur?: number
  id2?: { local?: string }
  /** Newer versions of Chromium use the other name. */
  args?: { chrome_frame_reporter?: { state?: string }; frame_reporter?: { state?: string } }
}

async function measureDrag(browser: Browser, address: string, progress: Progress): Promise<Figure[]> {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
  await page.goto(address)
  await page.locator('.step-row').first().waitFor()
  await pause(1_000)
  const box = (await page.getByRole('slider').boundingBox())!
  await page.mouse.move(box.x + 5, box.y + 40)
  await page.mouse.down()
  await browser.startTracing(page, {
    categories: [
      'devtools.timeline',
      'disabled-by-default-devtools.timeline',
      'disabled-by-default-devtools.timeline.frame',
      'cc',
      'benchmark',
    ],
  })
  const startedAtMs = performance.now()
  for (let elapsedMs = 0; elapsedMs < DRAG_MS; elapsedMs = performance.now() - startedAtMs) {
    progress.show('dragging the playhead over 10,000 steps', elapsedMs / DRAG_MS)
    // Back and forth, like a hand.
    const share = 0.5 - 0.48 * Math.cos((elapsedMs / DRAG_MS) * 4 * Math.PI)
    await page.mouse.move(box.x + box.width * share, box.y + 40)
    await pause(4)
  }
  const trace = JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: TraceEvent[] }
  await page.mouse.up()
  await page.close()
  return describeFrames(trace.traceEvents)
}

function describeFrames(events: readonly TraceEvent[]): Figure[] {
  const main = mainThreadOf(events)
  const { presentedMs, droppedCount } = findFrames(events.filter(({ pid }) => pid === main.pid))
  const intervals = presentedMs.slice(1).map((atMs, index) => atMs - presentedMs[index]!)
  const seconds = (presentedMs.at(-1)! - presentedMs[0]!) / 1000
  const tasks = events
    .filter((event) => event.tid === main.tid && event.pid === main.pid && event.name === 'RunTask')
    .map((event) => (event.dur ?? 0) / 1000)
  return [
    {
      what: 'drag: frames on the screen',
      figure: presentedMs.length / seconds,
      unit: 'per second',
      target: { limit: 58, unit: 'per second', isAtLeast: true },
    },
    { what: 'drag: frame time p50', figure: percentile(intervals, 0.5), unit: 'ms' },
    {
      what: 'drag: frame time p95',
      figure: percentile(intervals, 0.95),
      unit: 'ms',
      target: { limit: FRAME_MS * 1.2, unit: 'ms' },
    },
    { what: 'drag: frame time p99', figure: percentile(intervals, 0.99), unit: 'ms' },
    { what: 'drag: frames dropped', figure: droppedCount, unit: 'frames' },
    {
      what: 'drag: task on the main thread p95',
      figure: percentile(
        tasks.filter((ms) => ms > 1),
        0.95,
      ),
      unit: 'ms',
    },
    {
      what: 'drag: main thread busy',
      figure: tasks.reduce((sum, ms) => sum + ms, 0) / seconds / 10,
      unit: '%',
    },
  ]
}

/** When frames reached the screen, and how many were dropped. */
function findFrames(events: readonly TraceEvent[]): { presentedMs: number[]; droppedCount: number } {
  const states = new Map<string, string>()
  const ends: number[] = []
  let droppedCount = 0
  for (const event of events.toSorted((left, right) => left.ts - right.ts)) {
    if (event.name !== 'PipelineReporter') continue
    const id = event.id2?.local ?? ''
    const { frame_reporter, chrome_frame_reporter } = event.args ?? {}
    if (event.ph === 'b') states.set(id, (frame_reporter ?? chrome_frame_reporter)?.state ?? '')
    else if (states.get(id)?.startsWith('STATE_PRESENTED') === true) ends.push(event.ts / 1000)
    else if (states.get(id) === 'STATE_DROPPED') droppedCount += 1
  }
  // The compositor and the main thread report the same frame separately.
  const presentedMs = ends.filter((atMs, index) => index === 0 || atMs - ends[index - 1]! > 2)
  return { presentedMs, droppedCount }
}

/** The thread that runs most of the page's scripts. */
function mainThreadOf(events: readonly TraceEvent[]): { pid: number; tid: number } {
  const counts = new Map<string, number>()
  for (const { name, pid, tid } of events)
    if (name === 'FunctionCall') counts.set(`${pid} ${tid}`, (counts.get(`${pid} ${tid}`) ?? 0) + 1)
  const [busiest = '0 0'] = [...counts].toSorted((left, right) => right[1] - left[1])[0] ?? []
  const [pid = 0, tid = 0] = busiest.split(' ').map(Number)
  return { pid, tid }
}

async function measureOpening(
  browser: Browser,
  server: BenchServer,
  session: SampleSession,
  progress: Progress,
): Promise<Figure[]> {
  const address = addressOf(server, session)
  const openings: { allMs: number; responseMs: number }[] = []
  let heapMb = Number.NaN
  for (let count = 0; count < OPENINGS; count += 1) {
    progress.show('opening 100,000 steps', count / OPENINGS)
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
    // When people open a session, the page itself is usually in the browser's cache.
    await page.goto(`${server.url}/icon.svg`)
    openings.push(await openOnce(page, address))
    if (count === OPENINGS - 1) heapMb = await readHeap(page)
    await page.close()
  }
  const median = (values: number[]) => percentile(values, 0.5)
  return [
    {
      what: 'open 100,000 steps, first time',
      figure: openings[0]!.allMs,
      unit: 'ms',
      note: 'the server reads the session from disk',
    },
    {
      what: 'open 100,000 steps',
      figure: median(openings.slice(1).map(({ allMs }) => allMs)),
      unit: 'ms',
      target: { limit: 2_000, unit: 'ms' },
      note: 'median, until the failing step is on the screen',
    },
    {
      what: '  of that, the response of the server',
      figure: median(openings.slice(1).map(({ responseMs }) => responseMs)),
      unit: 'ms',
    },
    {
      what: 'memory of the page with 100,000 steps',
      figure: heapMb,
      unit: 'MB',
      target: { limit: 500, unit: 'MB' },
    },
  ]
}

async function openOnce(page: Page, address: string): Promise<{ allMs: number; responseMs: number }> {
  const startedAtMs = performance.now()
  await page.goto(address, { waitUntil: 'commit' })
  await page.locator('.step-row.is-selected').waitFor({ timeout: 60_000 })
  const allMs = performance.now() - startedAtMs
  const responseMs = (await page.evaluate(
    `(() => { const entry = performance.getEntriesByType('resource').find((one) => /\\/api\\/sessions\\/[0-9a-f]{32}(\\?|$)/.test(one.name)); return entry === undefined ? NaN : entry.responseEnd - entry.startTime })()`,
  )) as number
  return { allMs, responseMs }
}

/** The heap of the page after garbage collection. */
async function readHeap(page: Page): Promise<number> {
  const client = await page.context().newCDPSession(page)
  await client.send('HeapProfiler.collectGarbage')
  const { usedSize } = await client.send('Runtime.getHeapUsage')
  return usedSize / 1024 ** 2
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}
