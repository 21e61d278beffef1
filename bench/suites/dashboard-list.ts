import { execFileSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { launchBrowser } from '../../e2e/browser.ts'
import { readConfig } from '../../packages/server/src/process/config.ts'
import { startServer, type RunningServer } from '../../packages/server/src/process/start-server.ts'
import { Api } from '../harness/api.ts'
import { withDataDirectory } from '../harness/data-directory.ts'
import { fillSessions } from '../server/fill-sessions.ts'
import { describeMachine } from '../harness/machine.ts'
import type { Options } from '../harness/options.ts'
import { measureViews, type View, type Timing } from './page-timings.ts'
import { percentile } from '../harness/percentile.ts'
import type { Progress } from '../harness/progress.ts'
import type { Figure, Report } from '../harness/report.ts'
import { waitForMerges } from '../server/wait-for-store.ts'
import { targets } from '../harness/targets.ts'

const builder = fileURLToPath(new URL('../../scripts/build-dashboard.mjs', import.meta.url))
const SESSIONS = 1_000_000
const ROUNDS = 5

const views: readonly View[] = [
  { name: 'everything', path: '/sessions' },
  { name: 'status:fail', path: '/sessions?q=status:fail' },
  { name: 'tag:vip tag:eu', path: '/sessions?q=tag:vip+tag:eu' },
  { name: 'tool and cost', path: '/sessions?q=tool:issue_refund+cost:>0.025' },
  { name: 'model, last 24 h', path: '/sessions?q=model:gpt-4o&from=24h' },
  { name: 'duration:>15s', path: '/sessions?q=duration:>15s' },
  { name: 'failed action', path: '/sessions?q=failedTool:issue_refund' },
  { name: 'user:user-4711', path: '/sessions?q=user:user-4711' },
  { name: 'name:lisbon', path: '/sessions?q=name:lisbon' },
  { name: 'a rare number, full text', path: '/sessions?q="invoice+number+4711"' },
  { name: 'common words, full text', path: '/sessions?q="charged+twice"' },
  { name: 'by cost', path: '/sessions?sort=cost' },
]

/** Measures in a browser how long the list of a million sessions takes until its rows are painted. */
export async function runDashboardListSuite(options: Options, progress: Progress): Promise<Report> {
  const machine = describeMachine()
  execFileSync(process.execPath, [builder], { stdio: 'inherit' })
  const figures = await withDataDirectory(options.data, async (directory) => {
    const server = await startFilledServer(directory, progress)
    const browser = await launchBrowser()
    try {
      await waitForMerges(new Api(server.url), progress)
      const timings = await measureViews(browser, server.url, views, ROUNDS, (share) =>
        progress.show('opening pages', share),
      )
      return views.flatMap((view) => figuresOf(view, timings.get(view.name) ?? []))
    } finally {
      await browser.close()
      await server.stop()
    }
  })
  return { suite: `dashboard-list, ${SESSIONS.toLocaleString('en-US')} sessions`, machine, figures }
}

async function startFilledServer(directory: string, progress: Progress): Promise<RunningServer> {
  const config = readConfig({ PLAYHEAD_PORT: '0', PLAYHEAD_DEMO: 'off', PLAYHEAD_DATA: directory })
  if ('problem' in config) throw new Error(config.problem)
  const server = await startServer(config, (line) => console.error(line))
  const marker = join(directory, 'bench-sessions.json')
  if (existsSync(marker)) return server
  await fillSessions(server.services.store.client, SESSIONS, progress)
  writeFileSync(marker, JSON.stringify({ sessions: SESSIONS }))
  return server
}

function figuresOf({ name }: View, timings: readonly Timing[]): Figure[] {
  const rows = timings.map(({ rowsMs }) => rowsMs)
  const charts = timings.map(({ chartsMs }) => chartsMs)
  const response = timings.map(({ listResponseMs }) => listResponseMs)
  return [
    {
      what: `${name}: rows painted`,
      figure: percentile(rows, 0.5),
      unit: 'ms',
      target: targets.listPainted,
      note: `slowest ${Math.round(Math.max(...rows))}, list response after ${Math.round(percentile(response, 0.5))}, charts after ${Math.round(percentile(charts, 0.5))}`,
    },
  ]
}
