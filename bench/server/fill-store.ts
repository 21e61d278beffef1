import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { spansToOtlpProtobuf } from '../../packages/server/src/ingest/otlp-protobuf/spans-to-otlp-protobuf.ts'
import type { Health } from '../harness/api.ts'
import { startBenchServer, type BenchServer } from './bench-server.ts'
import { Corpus, SPANS_PER_SESSION } from '../corpus/corpus.ts'
import { multiplyStore } from './multiply-store.ts'
import type { Progress } from '../harness/progress.ts'
import { DAY_MS, projects, SPREAD_DAYS } from '../corpus/projects.ts'
import { Random } from '../corpus/random.ts'
import { SPANS_PER_REQUEST } from '../corpus/request-bodies.ts'
import { waitForMerges, waitForRest, waitForStore, waitForWords } from './wait-for-store.ts'

/** Beyond this size, the engine multiplies the spans that were sent. */
const MAX_SENT_SPANS = 1_000_000
const CONNECTIONS = 4

type FillMark = { spans: number; filledAtMs: number }

/** Fills a folder with this many spans, unless it already contains them. Returns the time when it was filled. */
export async function fillStore(directory: string, spans: number, progress: Progress): Promise<number> {
  const markPath = join(directory, 'bench-fill.json')
  if (existsSync(markPath)) {
    const mark = JSON.parse(readFileSync(markPath, 'utf8')) as FillMark
    if (mark.spans === spans) return mark.filledAtMs
    throw new Error(
      `${directory} holds ${mark.spans} spans, not ${spans}. Name another folder, or the same number.`,
    )
  }
  const filledAtMs = Date.now()
  const sentSpans = Math.min(spans, MAX_SENT_SPANS)
  await withServer(directory, async (server) => {
    for (const id of projects) await server.api.post('/api/projects', { id, name: id })
    await sendSpans(server, { spans: sentSpans, filledAtMs, progress })
    await waitForStore(server.api, progress)
    await waitForWords(server.api, progress)
    await waitForRest(server, progress)
  })
  const copies = Math.round(spans / sentSpans) - 1
  if (copies > 0) await multiplyStore(directory, { copies, filledAtMs }, progress)
  await withServer(directory, async (server) => {
    await waitForRest(server, progress)
    checkRows(await waitForMerges(server.api, progress), spans)
  })
  writeFileSync(markPath, JSON.stringify({ spans, filledAtMs } satisfies FillMark))
  return filledAtMs
}

function checkRows({ disk }: Health, spans: number): void {
  const rows = disk.tables.find(({ name }) => name === 'steps')?.rows ?? 0
  if (Math.abs(rows - spans) > spans / 100)
    throw new Error(`the store was filled with ${spans} spans but contains ${rows}`)
}

async function withServer(directory: string, use: (server: BenchServer) => Promise<void>): Promise<void> {
  const server = await startBenchServer(directory)
  try {
    await use(server)
  } finally {
    await server.stop()
  }
}

/** Sends sessions from random times of the last month. All sessions of a request belong to one project. */
async function sendSpans(
  server: BenchServer,
  options: { spans: number; filledAtMs: number; progress: Progress },
): Promise<void> {
  const { spans, filledAtMs, progress } = options
  const corpus = new Corpus(11)
  const random = new Random(12)
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  const requests = Math.ceil(spans / SPANS_PER_REQUEST)
  let sent = 0
  const connection = async () => {
    while (sent < requests) {
      const project = projects[sent++ % projects.length]!
      const sessions = Array.from({ length: SPANS_PER_REQUEST / SPANS_PER_SESSION }, () =>
        corpus.createSession(filledAtMs - 120_000 - random.next() * SPREAD_DAYS * DAY_MS),
      )
      const body = spansToOtlpProtobuf(sessions.flat())
      while (!(await post(`${server.url}/v1/traces`, { agent, project, body })))
        await new Promise((resolve) => setTimeout(resolve, 200))
      progress.show(
        'filling the store',
        sent / requests,
        `${(sent * SPANS_PER_REQUEST).toLocaleString('en-US')} spans`,
      )
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, connection))
  agent.destroy()
}

/** False if the server is busy and the request has to be retried. */
function post(url: string, options: { agent: Agent; project: string; body: Buffer }): Promise<boolean> {
  const { agent, project, body } = options
  const headers = {
    'content-type': 'application/x-protobuf',
    'content-length': body.length,
    'x-playhead-project': project,
  }
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', agent, headers }, (response) => {
      response.resume()
      response.on('end', () => {
        if (response.statusCode === 200 || response.statusCode === 503) resolve(response.statusCode === 200)
        else reject(new Error(`POST ${url}: ${response.statusCode}`))
      })
    })
    sent.on('error', reject)
    sent.end(body)
  })
}
