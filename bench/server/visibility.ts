import { setTimeout as sleep } from 'node:timers/promises'
import { spansToOtlpJson } from '@playhead/model'
import type { Api } from '../harness/api.ts'
import { Corpus, SPANS_PER_SESSION } from '../corpus/corpus.ts'

/** The longest delay that is measured. Whether the session arrives at all is checked at the end. */
const MAX_WAIT_MS = 30_000
const POLL_MS = 5
const RETRY_MS = 200

/** Posts sessions and measures the time from acknowledgement until a session is complete in the list and can be opened. */
export async function measureVisibility(
  api: Api,
  options: { count: number; pauseMs: number; seed: number; onProgress: (share: number) => void },
): Promise<{ delaysMs: number[]; spans: number }> {
  const corpus = new Corpus(options.seed)
  const delaysMs: number[] = []
  for (let index = 0; index < options.count; index++) {
    options.onProgress(index / options.count)
    const spans = corpus.createSession(Date.now() - 1_000)
    const user = `visibility_${options.seed}_${index}`
    // The list has to find the session by its user, whatever the instrumentation calls it.
    for (const span of spans) span.attributes['user.id'] = user
    for (const span of spans) delete span.attributes['ai.telemetry.metadata.userId']
    await postUntilAccepted(api, spansToOtlpJson(spans))
    const acknowledgedAtMs = performance.now()
    await waitUntilVisible(api, spans[0]!.traceId, user)
    delaysMs.push(performance.now() - acknowledgedAtMs)
    await sleep(options.pauseMs)
  }
  return { delaysMs, spans: options.count * SPANS_PER_SESSION }
}

/** Under more load than it can take, the server asks senders to try again. */
async function postUntilAccepted(api: Api, body: object): Promise<void> {
  const startedAtMs = performance.now()
  for (;;) {
    const { status, text } = await api.send('POST', '/v1/traces', JSON.stringify(body))
    if (status === 200) return
    if (status !== 503 || performance.now() - startedAtMs > MAX_WAIT_MS)
      throw new Error(`POST /v1/traces: ${status} ${text.slice(0, 300)}`)
    await sleep(RETRY_MS)
  }
}

async function waitUntilVisible(api: Api, id: string, user: string): Promise<void> {
  const startedAtMs = performance.now()
  while (performance.now() - startedAtMs < MAX_WAIT_MS) {
    if ((await isListed(api, user)) && (await isComplete(api, id))) return
    await sleep(POLL_MS)
  }
}

async function isListed(api: Api, user: string): Promise<boolean> {
  const { sessions } = await api.get<{ sessions: { stepCount: number }[] }>(
    `/api/sessions?user=${user}&from=1h`,
  )
  return sessions[0]?.stepCount === SPANS_PER_SESSION
}

async function isComplete(api: Api, id: string): Promise<boolean> {
  const { status, text } = await api.send('GET', `/api/sessions/${id}?payloads=none`)
  return status === 200 && (JSON.parse(text) as { steps: unknown[] }).steps.length === SPANS_PER_SESSION
}
