import { join } from 'node:path'
import { resolveSteps, summarizeSession, type SessionSummary, type Span } from '@playhead/model'
import { createPricer } from '@playhead/model/prices'
import { deriveCopies } from '../../src/ingest/derive-step.ts'
import { DialectFailures } from '../../src/ingest/dialect-failures.ts'
import { decodeTraces } from '../../src/ingest/http/decode-otlp.ts'
import { joinCopies, readJoinedOutlines, type CopiesOptions } from '../../src/sessions/step-copies.ts'
import { lastHeardAt, readSpans } from '../../src/sessions/stored-steps.ts'
import { connectStore } from '../../src/store/connect.ts'
import type { SpawnedServer } from '../spawned-server.ts'
import { hashOf, type SentSession } from '../traffic.ts'

export type Ledger = {
  checked: number
  /** The sessions that were also read over the API. */
  checkedOverApi: number
  lost: string[]
  duplicated: string[]
  altered: string[]
  /** Sessions whose row in the list is older than their steps. */
  outdated: string[]
}

/** A session as it is returned: undefined if it is not found. */
type Found = { spans: readonly Span[]; session: Pick<SessionSummary, 'stepCount' | 'endState'> } | undefined

type Listed = ReadonlyMap<string, SessionSummary[]>

const PROJECT = 'default'
/** Reading every session over the API would take longer than the soak. */
const OVER_API = 1_000
const CONCURRENCY = 6
const BATCH_SESSIONS = 500

/**
 * Compares every acknowledged span with what the server's readers return, in batches while the server is stopped, and a
 * thousand sessions also with what the API returns.
 */
export async function compareLedger(
  server: SpawnedServer,
  sessions: readonly SentSession[],
  onProgress: (what: string, share: number) => void,
): Promise<Ledger> {
  const ledger: Ledger = {
    checked: 0,
    checkedOverApi: 0,
    lost: [],
    duplicated: [],
    altered: [],
    outdated: [],
  }
  const listed: Listed = Map.groupBy(await server.allSessions(), ({ id }) => id)
  for (const [id, { length: times }] of listed)
    if (times > 1) ledger.duplicated.push(`session ${id} is in the list ${times} times`)
  const acknowledged = sessions.filter(({ spans }) => [...spans.values()].some((span) => span.isAcknowledged))
  await compareOverApi(server, someOf(acknowledged, OVER_API), { ledger, listed, onProgress })
  await server.end('SIGTERM')
  await compareStored(join(server.dataDirectory, 'store'), acknowledged, { ledger, listed, onProgress })
  await server.start()
  return ledger
}

type Comparison = {
  ledger: Ledger
  listed: Listed
  onProgress: (what: string, share: number) => void
}

async function compareOverApi(
  server: SpawnedServer,
  sessions: readonly SentSession[],
  comparison: Comparison,
): Promise<void> {
  const queue = [...sessions]
  const work = async () => {
    for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
      compare(next, await readOverApi(server, next.id), comparison)
      comparison.ledger.checkedOverApi += 1
      comparison.onProgress('the API', 1 - queue.length / sessions.length)
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, work))
}

async function readOverApi(server: SpawnedServer, id: string): Promise<Found> {
  const response = await server.request(`/api/sessions/${id}/recording.otlp`)
  const body = Buffer.from(await response.arrayBuffer())
  if (response.status !== 200) return undefined
  return { spans: decodeTraces(body, 'json').items, session: (await server.session(id)).session }
}

async function compareStored(
  path: string,
  sessions: readonly SentSession[],
  comparison: Comparison,
): Promise<void> {
  const store = await connectStore({ path, report: () => undefined })
  const pricer = createPricer()
  const failures = new DialectFailures(() => undefined)
  const options = {
    store,
    derive: (_project: string, copies: Parameters<typeof deriveCopies>[0]) =>
      deriveCopies(copies, pricer, failures),
  }
  try {
    for (let start = 0; start < sessions.length; start += BATCH_SESSIONS) {
      const batch = sessions.slice(start, start + BATCH_SESSIONS)
      const found = await readStored(
        options,
        batch.map(({ id }) => id),
      )
      for (const sent of batch) comparison.ledger.checked += compare(sent, found.get(sent.id), comparison)
      comparison.onProgress('the store', (start + batch.length) / sessions.length)
    }
  } finally {
    await store.close()
  }
}

/** Reads sessions as `SessionReader` does, many at once. */
async function readStored(options: CopiesOptions, ids: readonly string[]): Promise<Map<string, Found>> {
  const [rows, outlines] = await Promise.all([
    readSpans(options.store, PROJECT, { ids }),
    readJoinedOutlines(options, PROJECT, ids),
  ])
  const copied = outlines.flatMap(({ outline, isJoined }) =>
    isJoined ? [{ session_id: outline.sessionId, step_id: outline.id }] : [],
  )
  const joined = new Map(
    (copied.length === 0 ? [] : await joinCopies(options, PROJECT, copied)).map(({ span }) => [
      `${span.traceId} ${span.spanId}`,
      span,
    ]),
  )
  const spans = Map.groupBy(
    rows.map(({ span }) => joined.get(`${span.traceId} ${span.spanId}`) ?? span),
    ({ traceId }) => traceId,
  )
  const steps = Map.groupBy(outlines, ({ outline }) => outline.sessionId)
  const nowMs = Date.now()
  return new Map(
    [...steps].map(([id, stored]) => {
      const resolved = resolveSteps(stored.map(({ outline }) => outline))
      const lastHeardAtMs = lastHeardAt(
        stored.map(({ receivedMs }) => receivedMs),
        nowMs,
      )
      return [
        id,
        { spans: spans.get(id) ?? [], session: summarizeSession(resolved, { nowMs, lastHeardAtMs }) },
      ]
    }),
  )
}

/** Returns how many spans of the session were acknowledged. */
function compare(sent: SentSession, found: Found, { ledger, listed }: Comparison): number {
  const acknowledged = [...sent.spans.values()].filter((span) => span.isAcknowledged)
  if (found === undefined) {
    ledger.lost.push(...acknowledged.map(({ id }) => `${id} of ${sent.id}: the session is not found`))
    return acknowledged.length
  }
  const byId = new Map(found.spans.map((span) => [span.spanId, span]))
  if (byId.size !== found.spans.length) ledger.duplicated.push(`${sent.id} has a span twice`)
  for (const span of acknowledged) {
    const stored = byId.get(span.id)
    if (stored === undefined) ledger.lost.push(`${span.id} of ${sent.id}`)
    else if (span.copies.indexOf(hashOf(stored)) < span.acknowledgedCopy)
      ledger.altered.push(`${span.id} of ${sent.id}`)
  }
  const { stepCount, endState } = found.session
  const row = listed.get(sent.id)?.[0]
  // A session falls silent while others are compared.
  const isSameEnd = row?.endState === endState || (row?.endState === 'running' && endState === 'lost')
  if (row?.stepCount !== stepCount || !isSameEnd)
    ledger.outdated.push(
      `${sent.id} is listed as ${row?.endState} with ${row?.stepCount} steps and is ${endState} with ${stepCount}`,
    )
  if (stepCount !== found.spans.length)
    ledger.duplicated.push(`${sent.id} counts ${stepCount} steps and has ${found.spans.length}`)
  return acknowledged.length
}

/** Evenly spread over all of them. */
function someOf<Item>(items: readonly Item[], count: number): Item[] {
  const every = Math.max(1, items.length / count)
  return Array.from(
    { length: Math.min(count, items.length) },
    (_, index) => items[Math.floor(index * every)]!,
  )
}
