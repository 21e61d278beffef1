import { decodeTraces } from '../../src/ingest/http/decode-otlp.ts'
import type { SessionSummary } from '@playhead/model'
import type { SpawnedServer } from '../spawned-server.ts'
import { hashOf, type SentSession } from '../traffic.ts'

export type Ledger = {
  checked: number
  lost: string[]
  duplicated: string[]
  altered: string[]
  /** Sessions whose row in the list is older than their steps. */
  outdated: string[]
}

const CONCURRENCY = 6

/** Compares every acknowledged span with what the API returns. */
export async function compareLedger(
  server: SpawnedServer,
  sessions: readonly SentSession[],
  onProgress: (share: number) => void,
): Promise<Ledger> {
  const ledger: Ledger = { checked: 0, lost: [], duplicated: [], altered: [], outdated: [] }
  const listed = Map.groupBy(await server.allSessions(), ({ id }) => id)
  for (const [id, { length: times }] of listed)
    if (times > 1) ledger.duplicated.push(`session ${id} is in the list ${times} times`)
  const queue = sessions.filter((session) => [...session.spans.values()].some((span) => span.isAcknowledged))
  const all = queue.length
  const work = async () => {
    for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
      await compareSession(server, next, { ledger, listed: listed.get(next.id)?.[0] })
      onProgress(1 - queue.length / all)
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, work))
  return ledger
}

async function compareSession(
  server: SpawnedServer,
  sent: SentSession,
  { ledger, listed }: { ledger: Ledger; listed: SessionSummary | undefined },
): Promise<void> {
  const acknowledged = [...sent.spans.values()].filter((span) => span.isAcknowledged)
  const response = await server.request(`/api/sessions/${sent.id}/recording.otlp`)
  const body = Buffer.from(await response.arrayBuffer())
  if (response.status !== 200) {
    ledger.lost.push(...acknowledged.map(({ id }) => `${id} of ${sent.id}: ${response.status}`))
    return
  }
  const stored = decodeTraces(body, 'json').items
  const byId = new Map(stored.map((span) => [span.spanId, span]))
  if (byId.size !== stored.length) ledger.duplicated.push(`${sent.id} has a span twice`)
  for (const span of acknowledged) {
    ledger.checked += 1
    const found = byId.get(span.id)
    if (found === undefined) ledger.lost.push(`${span.id} of ${sent.id}`)
    else if (span.copies.indexOf(hashOf(found)) < span.acknowledgedCopy)
      ledger.altered.push(`${span.id} of ${sent.id}`)
  }
  const { session } = await server.session(sent.id)
  if (listed?.stepCount !== session.stepCount || listed.endState !== session.endState)
    ledger.outdated.push(
      `${sent.id} is listed as ${listed?.endState} with ${listed?.stepCount} steps and is ${session.endState} with ${session.stepCount}`,
    )
  if (session.stepCount !== stored.length)
    ledger.duplicated.push(`${sent.id} counts ${session.stepCount} steps and has ${stored.length}`)
}
