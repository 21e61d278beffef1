import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { spansToOtlpProtobuf } from '../../packages/server/src/ingest/otlp-protobuf/spans-to-otlp-protobuf.ts'
import { Api } from '../harness/api.ts'
import { Corpus, SPANS_PER_SESSION } from '../corpus/corpus.ts'
import { postSpans } from '../server/load.ts'
import { sendQuery } from './send-query.ts'
import type { Query, Contender } from './contender.ts'

const PAUSE_MS = 200
const POLL_MS = 5
/** The longest delay that is measured. */
const MAX_WAIT_MS = 30_000

/** Sends sessions and measures the time from acknowledgement until a session opens completely. */
export async function measureVisible(
  contender: Contender,
  options: {
    url: string
    open: (traceId: string) => Query
    probes: number
    onProgress: (share: number) => void
  },
): Promise<number[]> {
  const corpus = new Corpus(301)
  const agent = new Agent({ keepAlive: true })
  const headers = { 'content-type': 'application/x-protobuf', ...contender.headers }
  const delaysMs: number[] = []
  for (let probe = 0; probe < options.probes; probe++) {
    options.onProgress(probe / options.probes)
    const spans = corpus.createSession(Date.now() - 1_000)
    const isAcknowledged = await postSpans(options.url, spansToOtlpProtobuf(spans), { agent, headers })
    if (!isAcknowledged) throw new Error(`${contender.name} refused a session while it was idle`)
    const acknowledgedAtMs = performance.now()
    await waitUntilComplete(options.url, options.open(spans[0]!.traceId))
    delaysMs.push(performance.now() - acknowledgedAtMs)
    await sleep(PAUSE_MS)
  }
  agent.destroy()
  return delaysMs
}

async function waitUntilComplete(url: string, open: Query): Promise<void> {
  const endMs = performance.now() + MAX_WAIT_MS
  const api = new Api(url)
  while (performance.now() < endMs) {
    // Some contenders return an error until the session exists.
    const count = await sendQuery(api, open).then(
      (response) => response.count,
      () => 0,
    )
    if (count === SPANS_PER_SESSION) break
    await sleep(POLL_MS)
  }
  api.close()
}
