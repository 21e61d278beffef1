import { join } from 'node:path'
import type { DamagedFiles } from '../log/damaged-files.ts'
import type { IngestPipeline } from '../ingest/ingest-batch.ts'
import { IngestThread } from '../ingest/thread/ingest-thread.ts'
import type { Columns } from '../log/native-block.ts'
import type { Segment } from '../log/segment-file.ts'
import type { EarlyRefresh } from '../log/flush-queue.ts'
import { firstSegmentId } from '../log/segment-ids.ts'
import { SegmentLog } from '../log/segment-log.ts'
import type { ServerNodes } from '../nodes/server-nodes.ts'
import { readLoggedSpans } from '../sessions/logged-spans.ts'
import type { SessionRefresher } from '../sessions/refresh-sessions.ts'
import type { StoredLogs } from '../sessions/stored-logs.ts'
import type { Store } from '../store/connect.ts'
import { insertSegment, refreshTouched } from '../store/flush-segment.ts'
import { logColumns } from '../store/logs-table.ts'
import { MergePause } from '../store/merge-pause.ts'
import { stepColumns } from '../store/steps-table.ts'
import type { VersionClock } from '../store/version-clock.ts'
import { WordBuilder } from '../store/word-builder.ts'
import type { Config } from './config.ts'

/** Opens the logs of steps and of log records, and what brings their segments into the store. */
export async function openLogs(
  config: Config,
  options: {
    store: Store
    storedLogs: StoredLogs
    refresher: SessionRefresher
    nodes: ServerNodes
    damaged: DamagedFiles
    report: (line: string) => void
  },
  cleanups: (() => unknown)[],
) {
  const { store, storedLogs, refresher, damaged, report } = options
  const words = new WordBuilder(options)
  const merges = new MergePause(store, report)
  const root = join(config.dataDirectory, 'log')
  const firstId = await firstSegmentId(root, damaged)
  const open = <Row>(name: 'steps' | 'logs', columns: Columns<Row>) => {
    const table = { name, columns: Object.keys(columns) }
    return SegmentLog.open({
      name,
      damaged,
      directory: join(root, name),
      columns,
      firstId,
      insert: async (segment) => {
        if (name === 'logs') storedLogs.expectSome()
        await insertSegment(segment, table, store)
        if (name !== 'steps') return
        words.note(segment.rows)
        merges.note(segment.rows)
      },
      refresh: (segment) =>
        refreshTouched(segment, table, store, (...sessions) => refresher.refresh(...sessions)),
      ...(name === 'steps' && {
        refreshEarly: (segment: Segment, early: EarlyRefresh) =>
          refresher.refreshEarly(segment.touched ?? new Set(), segment.id, early),
      }),
      report,
    })
  }
  const [steps, logs] = await Promise.all([open('steps', stepColumns), open('logs', logColumns)])
  refresher.giveWayTo(steps)
  for (const log of [logs, steps]) cleanups.push(() => log.close())
  words.start(steps, cleanups)
  // A ClickHouse server knows best when it merges.
  if (store.engine !== undefined) merges.start(steps, cleanups)
  const catchUp = async () => void (await Promise.all([steps.catchUp(), logs.catchUp()]))
  const catchUpLists = async () =>
    (await Promise.all([steps.catchUp({ isListed: true }), logs.catchUp()])).includes(true)
  const readLogged = (project: string, traceIds: readonly string[]) =>
    readLoggedSpans(steps, store.badRows, { project, traceIds })
  const drain = async () => void (await Promise.all([steps.drain(), logs.drain()]))
  return { steps, logs, words, catchUp, catchUpLists, readLogged, drain }
}

type PipelineParts = Omit<IngestPipeline, 'thread' | 'nextArrival' | 'reserveArrivals'> & {
  versions: VersionClock
  report: (line: string) => void
}

/** What ingest needs, with the thread that it may start. */
export function openPipeline(parts: PipelineParts, cleanups: (() => unknown)[]): IngestPipeline {
  const { steps, logs, live, fresh, pricerOf, counters, dialectFailures, usage, versions, report } = parts
  const thread = new IngestThread(report)
  cleanups.push(() => thread.close())
  return {
    steps,
    logs,
    live,
    fresh,
    pricerOf,
    counters,
    dialectFailures,
    usage,
    thread,
    nextArrival: () => versions.next(),
    reserveArrivals: (count) => versions.reserve(count),
  }
}
