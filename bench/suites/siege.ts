import { setTimeout as sleep } from 'node:timers/promises'
import { RequestBodies } from '../corpus/request-bodies.ts'
import { withDataDirectory } from '../harness/data-directory.ts'
import { describeMachine } from '../harness/machine.ts'
import type { Options } from '../harness/options.ts'
import { percentile } from '../harness/percentile.ts'
import { residentMb } from '../harness/process-usage.ts'
import type { Progress } from '../harness/progress.ts'
import type { Figure, Report } from '../harness/report.ts'
import { targets } from '../harness/targets.ts'
import { startBenchServer, type BenchServer } from '../server/bench-server.ts'
import { startClients } from '../server/clients.ts'
import { sendAtRate } from '../server/load.ts'

const CONNECTIONS = 1_000
const SPANS_PER_SECOND = 1_000
/** Until the server remembers as many sessions as it ever will: what they take is not the attackers' doing. */
const WARM_UP_SECONDS = 200
const PASSWORD = 'correct horse battery'

/** A server with auth, a sender with a key, and 1,000 connections without one: what they cost in memory and time. */
export async function runSiegeSuite(options: Options, progress: Progress): Promise<Report> {
  const machine = describeMachine()
  const figures = await withDataDirectory(options.data, async (directory) => {
    progress.show('starting the server')
    const server = await startBenchServer(directory, {
      PLAYHEAD_AUTH: 'on',
      PLAYHEAD_PASSWORD: PASSWORD,
      PLAYHEAD_GRPC_PORT: '0',
    })
    try {
      return await measure(server, options, progress)
    } finally {
      await server.stop()
    }
  })
  return { suite: 'siege', machine, figures }
}

async function measure(server: BenchServer, { seconds }: Options, progress: Progress): Promise<Figure[]> {
  const send = await createSender(server, progress)
  await send('warm-up', Math.min(seconds, WARM_UP_SECONDS))
  const before = await send('without attackers', Math.min(seconds, 60))
  const attackers = await startClients({
    attackers: {
      url: server.url,
      grpcAddress: server.grpcAddress,
      connections: CONNECTIONS,
      isAuthOn: true,
    },
  })
  const during = await send('with attackers', seconds)
  const counts = await attackers.stop()
  await sleep(5_000)
  const afterMb = residentMb(server.pid)
  // Before and after, so that the growth of the store is not taken for the attackers' doing.
  const after = await send('without attackers again', Math.min(seconds, 60))
  const without = [...before.latencies, ...after.latencies]
  const [p99Without, p99During] = [without, during.latencies].map((latencies) => percentile(latencies, 0.99))
  const describe = Object.entries(counts).map(([what, count]) => `${count} ${what}`)
  return [
    { what: 'memory of the server, peak without attackers', figure: before.peakMb, unit: 'MB' },
    { what: 'memory of the server, peak with attackers', figure: during.peakMb, unit: 'MB' },
    { what: 'memory of the server, 5 s after them', figure: afterMb, unit: 'MB' },
    {
      what: 'memory that attackers cost',
      figure: during.peakMb - before.peakMb,
      unit: 'MB',
      target: targets.siegeMemory,
      note: `${CONNECTIONS} connections, ${seconds} s: ${describe.join(', ')}`,
    },
    { what: 'acknowledge, p50, without attackers', figure: percentile(without, 0.5), unit: 'ms' },
    { what: 'acknowledge, p50, with attackers', figure: percentile(during.latencies, 0.5), unit: 'ms' },
    {
      what: 'acknowledge, p99, without attackers',
      figure: p99Without!,
      unit: 'ms',
      note: `before them ${Math.round(percentile(before.latencies, 0.99))} ms, after them ${Math.round(percentile(after.latencies, 0.99))} ms`,
    },
    { what: 'acknowledge, p99, with attackers', figure: p99During!, unit: 'ms' },
    {
      what: 'acknowledge, p99, with to without',
      figure: p99During! / p99Without!,
      unit: '×',
      target: targets.siegeRatio,
    },
    {
      what: 'requests with a key that failed',
      figure: during.failures,
      unit: '',
      target: { limit: 0, unit: '' },
    },
  ]
}

/** Sends spans with a key, for some seconds, and watches the server's memory meanwhile. */
async function createSender(server: BenchServer, progress: Progress) {
  const bodies = new RequestBodies({
    format: 'protobuf',
    count: 100,
    seed: 1,
    onProgress: (share) => progress.show('encoding requests', share),
  })
  const headers = { authorization: `Bearer ${await createKey(server.url)}` }
  return async (name: string, seconds: number) => {
    let peakMb = 0
    const timer = setInterval(() => (peakMb = Math.max(peakMb, residentMb(server.pid))), 250)
    const { latencies, failures } = await sendAtRate({
      url: server.url,
      bodies,
      format: 'protobuf',
      connections: 8,
      seconds,
      spansPerSecond: SPANS_PER_SECOND,
      headers,
      onProgress: (share) => progress.show(name, share),
    })
    clearInterval(timer)
    return { latencies, failures, peakMb }
  }
}

async function createKey(url: string): Promise<string> {
  const json = { 'content-type': 'application/json' }
  const login = await fetch(`${url}/api/login`, {
    method: 'POST',
    headers: json,
    body: JSON.stringify({ password: PASSWORD }),
  })
  const cookie = login.headers.getSetCookie()[0]!.split(';')[0]!
  const created = await fetch(`${url}/api/keys`, {
    method: 'POST',
    headers: { ...json, cookie },
    body: JSON.stringify({ name: 'siege', scopes: ['ingest'] }),
  })
  return ((await created.json()) as { secret: string }).secret
}
