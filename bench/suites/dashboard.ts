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
import { targets } from '../harness/targets.ts'

const builder = fileURLToPath(new URL('../../scripts/build-dashboard.mjs', import.meta.url))
const DRAG_MS = 5_000
/** An ordinary mouse reports its place 125 times a second. */
const MOVE_MS = 8
const REFRESH_MS = 1000 / 60
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
  const empty = await traceDrag(browser, emptyPage, progress)
  const replay = await traceDrag(browser, address, progress)
  return describeFrames(replay, empty)
}

/** What the browser itself can do here: a line that follows the pointer. */
const emptyPage = `data:text/html,${encodeURIComponent(`<!doctype html><div class="step-row"></div>
<div role="slider" style="position:absolute;inset:100px 40px auto;height:110px"><i style="position:absolute;width:2px;height:100%;background:red;will-change:transform"></i></div>
<script>
const slider = document.querySelector('[role=slider]')
slider.onpointermove = (event) => { slider.firstChild.style.transform = 'translateX(' + event.offsetX + 'px)' }
</script>`)}`

async function traceDrag(browser: Browser, address: string, progress: Progress): Promise<TraceEvent[]> {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
  await page.goto(address)
  await page.locator('.step-row').first().waitFor({ state: 'attached' })
  await pause(1_000)
  const box = (await page.getByRole('slider').boundingBox())!
  const mouse = await page.context().newCDPSession(page)
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
  const moves: Promise<unknown>[] = []
  for (let elapsedMs = 0; elapsedMs < DRAG_MS; elapsedMs = performance.now() - startedAtMs) {
    progress.show('dragging the playhead over 10,000 steps', elapsedMs / DRAG_MS)
    // Back and forth, like a hand.
    const share = 0.5 - 0.48 * Math.cos((elapsedMs / DRAG_MS) * 4 * Math.PI)
    const place = { x: box.x + box.width * share, y: box.y + 40 }
    // Like a mouse, which does not wait for the page. Playwright's would, and then a frame has nothing new to show.
    moves.push(
      mouse.send('Input.dispatchMouseEvent', { type: 'mouseMoved', ...place, button: 'left', buttons: 1 }),
    )
    await pause(MOVE_MS)
  }
  const trace = JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: TraceEvent[] }
  await Promise.all(moves)
  await page.mouse.up()
  await page.close()
  return trace.traceEvents
}

function describeFrames(events: readonly TraceEvent[], empty: readonly TraceEvent[]): Figure[] {
  const main = mainThreadOf(events)
  const frames = findFrames(events)
  const tasks = events
    .filter((event) => event.tid === main.tid && event.pid === main.pid && event.name === 'RunTask')
    .map((event) => (event.dur ?? 0) / 1000)
  const seconds = (frames.refreshCount * REFRESH_MS) / 1000
  return [
    {
      what: 'drag: frames on the screen',
      figure: (frames.intervalsMs.length * 1000) / (frames.refreshCount * REFRESH_MS),
      unit: 'per second',
      target: targets.dragFrames,
      note: 'refreshes of a 60 Hz screen that show something new',
    },
    { what: 'drag: frame time p50', figure: percentile(frames.intervalsMs, 0.5), unit: 'ms' },
    {
      what: 'drag: frame time p95',
      figure: percentile(frames.intervalsMs, 0.95),
      unit: 'ms',
      target: targets.dragFrameP95,
      note: 'a frame stays until a refresh shows the next one',
    },
    { what: 'drag: frame time p99', figure: percentile(frames.intervalsMs, 0.99), unit: 'ms' },
    {
      what: 'drag: time between frames as drawn, p95',
      figure: percentile(frames.drawnIntervalsMs, 0.95),
      unit: 'ms',
      note: `${percentile(findFrames(empty).drawnIntervalsMs, 0.95).toFixed(1)} on a page that only moves a line`,
    },
    { what: 'drag: frames dropped', figure: frames.droppedCount, unit: 'frames' },
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

type Frames = {
  /** How long each frame stayed on the screen: whole refreshes. */
  intervalsMs: number[]
  refreshCount: number
  /** Between frames, by the clock of the process that draws them: it varies within a refresh, which nobody sees. */
  drawnIntervalsMs: number[]
  droppedCount: number
}

function findFrames(events: readonly TraceEvent[]): Frames {
  const { pid } = mainThreadOf(events)
  const states = new Map<string, string>()
  const begins: number[] = []
  const ends: number[] = []
  let droppedCount = 0
  for (const event of events.toSorted((left, right) => left.ts - right.ts)) {
    if (event.name !== 'PipelineReporter' || event.pid !== pid) continue
    const id = event.id2?.local ?? ''
    const { frame_reporter, chrome_frame_reporter } = event.args ?? {}
    if (event.ph === 'b') {
      states.set(id, (frame_reporter ?? chrome_frame_reporter)?.state ?? '')
      begins.push(event.ts / 1000)
    } else if (states.get(id)?.startsWith('STATE_PRESENTED') === true) ends.push(event.ts / 1000)
    else if (states.get(id) === 'STATE_DROPPED') droppedCount += 1
  }
  // The compositor and the main thread report the same frame separately.
  const drawnMs = ends.filter((atMs, index) => index === 0 || atMs - ends[index - 1]! > 2)
  // Frames begin at refreshes. Of two that are drawn before the next refresh, it shows the second.
  const refreshMs = begins[Math.floor(begins.length / 2)]!
  const shownAt = [...new Set(drawnMs.map((atMs) => Math.floor((atMs - refreshMs) / REFRESH_MS)))]
  return {
    intervalsMs: differences(shownAt).map((count) => count * REFRESH_MS),
    refreshCount: shownAt.at(-1)! - shownAt[0]!,
    drawnIntervalsMs: differences(drawnMs),
    droppedCount,
  }
}

function differences(values: readonly number[]): number[] {
  return values.slice(1).map((value, index) => value - values[index]!)
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
      target: targets.longSessionOpened,
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
      target: targets.longSessionMemory,
    },
  ]
}

/** Notes when a frame with the failing step was shown. Playwright looks for it with pauses of up to 500 ms. */
const noteShown = `{
  const isThere = () => document.querySelector('.step-row.is-selected') !== null
  const note = () => { globalThis.shownAtMs = performance.timeOrigin + performance.now() }
  const look = () => requestAnimationFrame(isThere() ? note : look)
  look()
}`
const readShown = `new Promise((resolve) => {
  const read = () => (globalThis.shownAtMs === undefined ? requestAnimationFrame(read) : resolve(shownAtMs))
  read()
})`

async function openOnce(page: Page, address: string): Promise<{ allMs: number; responseMs: number }> {
  await page.addInitScript(noteShown)
  const startedAtMs = performance.timeOrigin + performance.now()
  await page.goto(address, { waitUntil: 'commit' })
  await page.locator('.step-row.is-selected').waitFor({ timeout: 60_000 })
  const allMs = (await page.evaluate<number>(readShown)) - startedAtMs
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
