import { cpSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Store } from '../../src/store/connect.ts'
import { readSpans } from '../../src/sessions/stored-steps.ts'
import { startTestServer } from '../test-server.ts'
import { hashOf, Traffic } from '../traffic.ts'

/** Spans that were acknowledged: their hashes by session and span id. */
export type Truth = ReadonlyMap<string, string>

/** A data folder with half of its spans in the store and half in the log, and one with all of them in the store. */
export type Sample = {
  half: string
  whole: string
  ids: string[]
  truth: Truth
  /** The hashes of all copies of the spans that were sent, also of less complete ones. */
  copies: ReadonlySet<string>
}

/** Sends sessions to a real server and keeps what it acknowledged. */
export async function makeSample(
  folder: string,
  { sessions, random }: { sessions: number; random: () => number },
): Promise<Sample> {
  const [half, whole] = [join(folder, 'half'), join(folder, 'whole')]
  const server = await startTestServer({ PLAYHEAD_DATA: join(folder, 'data') })
  const { services } = server
  const send = async () => {
    const traffic = new Traffic({ url: server.url, random, connections: 4, maxSessions: sessions / 2 })
    traffic.start()
    while (traffic.sessions.length < sessions / 2) await pause(10)
    await traffic.finish()
    return traffic.sessions
  }
  const stored = await send()
  await services.drain()
  await services.registry.createKey({ project: 'default', name: 'kept', scopes: ['read'] })
  // While the engine is paused, acknowledged spans stay in the log.
  process.kill(services.store.engine!.pid!, 'SIGSTOP')
  const logged = await send()
  copyFolder(join(folder, 'data'), half)
  process.kill(services.store.engine!.pid!, 'SIGCONT')
  await services.drain()
  const sent = [...stored, ...logged]
  const ids = sent.map(({ id }) => id)
  const truth = await hashesIn(services.store, ids)
  const copies = new Set(sent.flatMap(({ spans }) => [...spans.values()].flatMap((span) => span.copies)))
  for (const { id, spans } of sent)
    for (const span of spans.values())
      if (span.isAcknowledged && !span.copies.includes(truth.get(`${id} ${span.id}`) ?? ''))
        throw new Error(`${span.id} was lost before any flip`)
  await server.stop()
  copyFolder(join(folder, 'data'), whole)
  return { half, whole, ids, truth, copies }
}

/** The hashes of all spans in a store, by session and span id. */
export async function hashesIn(store: Store, ids: readonly string[]): Promise<Map<string, string>> {
  const rows = await readSpans(store, 'default', { ids })
  return new Map(rows.map(({ span }) => [`${span.traceId} ${span.spanId}`, hashOf(span)]))
}

/** Where the row of a span is lost, an earlier copy of it may be left. */
export function compareSpans(sample: Sample, found: Truth): { lost: number; altered: number } {
  let [lost, altered] = [0, 0]
  for (const [key, hash] of sample.truth) {
    const other = found.get(key)
    if (other === hash) continue
    if (other === undefined || sample.copies.has(other)) lost += 1
    else altered += 1
  }
  return { lost, altered }
}

/** Sockets can't be copied. Links stay relative: the engine's lead to the definitions of its tables, which are to be the copy's. */
export function copyFolder(from: string, to: string): void {
  cpSync(from, to, { recursive: true, verbatimSymlinks: true, filter: (path) => !isSocket(path) })
}

function isSocket(path: string): boolean {
  return statSync(path).isSocket()
}
