import { setTimeout as sleep } from 'node:timers/promises'
import { spansToOtlpJson } from '@playhead/model'
import type { Api } from './api.ts'
import { Corpus, SPANS_PER_SESSION } from './corpus.ts'

/** One that takes longer counts as this long: whether it is there at all is looked at in the end. */
const PATIENCE_MS = 30_000
const POLL_MS = 5

/** Posts sessions and takes the time from each acknowledgement until it is whole in the list and can be opened. */
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
    // Wherever the instrumentation puts it: the list must find this session by its user.
    for (const span of spans) span.attributes['user.id'] = user
    for (const span of spans) delete span.attributes['ai.telemetry.metadata.userId']
    await api.post('/v1/traces', spansToOtlpJson(spans))
    const acknowledgedAtMs = performance.now()
    await waitUntilVisible(api, spans[0]!.traceId, user)
    delaysMs.push(performance.now() - acknowledgedAtMs)
    await sleep(options.pauseMs)
  }
  return { delaysMs, spans: options.count * SPANS_PER_SESSION }
}

async function waitUntilVisible(api: Api, id: string, user: string): Promise<void> {
  const startedAtMs = performance.now()
  while (performance.now() - startedAtMs < PATIENCE_MS) {
    if ((await isListed(api, user)) && (await isWhole(api, id))) return
    await sleep(POLL_MS)
  }
}

async function isListed(api: Api, user: string): Promise<boolean> {
  const { sessions } = await api.get<{ sessions: { stepCount: number }[] }>(
    `/api/sessions?user=${user}&from=1h`,
  )
  return sessions[0]?.stepCount === SPANS_PER_SESSION
}

async function isWhole(api: Api, id: string): Promise<boolean> {
  const { status, text } = await api.send('GET', `/api/sessions/${id}?payloads=none`)
  return status === 200 && (JSON.parse(text) as { steps: unknown[] }).steps.length === SPANS_PER_SESSION
}
