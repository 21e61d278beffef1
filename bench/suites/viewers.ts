import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { spansToOtlpProtobuf } from '../../packages/server/src/ingest/otlp-protobuf/spans-to-otlp-protobuf.ts'
import { Corpus } from '../corpus/corpus.ts'
import { withDataDirectory } from '../harness/data-directory.ts'
import { describeMachine } from '../harness/machine.ts'
import type { Options } from '../harness/options.ts'
import { percentile } from '../harness/percentile.ts'
import type { Progress } from '../harness/progress.ts'
import type { Figure, Report } from '../harness/report.ts'
import { targets } from '../harness/targets.ts'
import { startBenchServer, type BenchServer } from '../server/bench-server.ts'
import { startClients } from '../server/clients.ts'
import { postSpans } from '../server/load.ts'

const VIEWERS = 500
/** One span in each request, as agents send the steps that people watch. */
const REQUESTS_PER_SECOND = 50
const MAX_SECONDS = 30

/** How much 500 live viewers of everything slow down acknowledgements. */
export async function runViewersSuite(options: Options, progress: Progress): Promise<Report> {
  const machine = describeMachine()
  const figures = await withDataDirectory(options.data, async (directory) => {
    progress.show('starting the server')
    const server = await startBenchServer(directory)
    try {
      return await measure(server, Math.min(options.seconds, MAX_SECONDS), progress)
    } finally {
      await server.stop()
    }
  })
  return { suite: 'viewers', machine, figures }
}

async function measure(server: BenchServer, seconds: number, progress: Progress): Promise<Figure[]> {
  const send = async (name: string) => {
    const latencies = await sendSteps(server.url, seconds, (share) => progress.show(name, share))
    return { p50: percentile(latencies, 0.5), p99: percentile(latencies, 0.99) }
  }
  await send('warm-up')
  const without = await send('without viewers')
  const viewers = await startClients({ viewers: { url: server.url, connections: VIEWERS } })
  const watched = await send(`with ${VIEWERS} viewers`)
  const counts = await viewers.stop()
  return [
    { what: 'acknowledge, p50, without viewers', figure: without.p50, unit: 'ms' },
    {
      what: `acknowledge, p50, with ${VIEWERS} viewers`,
      figure: watched.p50,
      unit: 'ms',
      note: `${counts.viewers} viewers got ${Math.round(counts.bytes! / 1024 ** 2)} MB in ${seconds} s`,
    },
    {
      what: 'acknowledge, p50, with to without',
      figure: watched.p50 / without.p50,
      unit: '×',
      target: targets.viewersRatio,
    },
    { what: 'acknowledge, p99, without viewers', figure: without.p99, unit: 'ms' },
    { what: `acknowledge, p99, with ${VIEWERS} viewers`, figure: watched.p99, unit: 'ms' },
  ]
}

async function sendSteps(
  url: string,
  seconds: number,
  onProgress: (share: number) => void,
): Promise<number[]> {
  const corpus = new Corpus(Math.floor(Math.random() * 2 ** 31))
  const agent = new Agent({ keepAlive: true, maxSockets: 4 })
  const headers = { 'content-type': 'application/x-protobuf' }
  const latencies: number[] = []
  const startedAtMs = performance.now()
  const total = seconds * REQUESTS_PER_SECOND
  let session: ReturnType<Corpus['createSession']> = []
  for (let sent = 0; sent < total; sent++) {
    const dueAtMs = startedAtMs + (sent * 1_000) / REQUESTS_PER_SECOND
    await sleep(Math.max(0, dueAtMs - performance.now()))
    if (session.length === 0) session = corpus.createSession(Date.now())
    const postedAtMs = performance.now()
    await postSpans(url, spansToOtlpProtobuf([session.shift()!]), { agent, headers })
    latencies.push(performance.now() - postedAtMs)
    onProgress(sent / total)
  }
  agent.destroy()
  return latencies
}
