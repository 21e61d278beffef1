import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { spansToOtlpProtobuf } from '../../packages/server/src/ingest/otlp-protobuf/spans-to-otlp-protobuf.ts'
import { Api } from '../api.ts'
import { Corpus, SPANS_PER_SESSION } from '../corpus.ts'
import { postSpans } from '../load.ts'
import { ask } from './ask.ts'
import type { Ask, Contender } from './contender.ts'

const PAUSE_MS = 200
const POLL_MS = 5
/** One that takes longer counts as this long. */
const PATIENCE_MS = 30_000

/** Sends sessions and takes the time from each acknowledgement until the session can be opened whole. */
export async function measureVisible(
  contender: Contender,
  options: {
    url: string
    open: (traceId: string) => Ask
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
    if (!isAcknowledged) throw new Error(`${contender.name} refused a session while it had nothing to do`)
    const acknowledgedAtMs = performance.now()
    await waitUntilWhole(options.url, options.open(spans[0]!.traceId))
    delaysMs.push(performance.now() - acknowledgedAtMs)
    await sleep(PAUSE_MS)
  }
  agent.destroy()
  return delaysMs
}

async function waitUntilWhole(url: string, open: Ask): Promise<void> {
  const endMs = performance.now() + PATIENCE_MS
  const api = new Api(url)
  while (performance.now() < endMs) {
    // Until it is there, asking for it is an error for some.
    const count = await ask(api, open).then(
      (answer) => answer.count,
      () => 0,
    )
    if (count === SPANS_PER_SESSION) break
    await sleep(POLL_MS)
  }
  api.close()
}
