import type { WatchedMonitor } from '../monitors/monitor-store.ts'
import type { Destination } from './destination-store.ts'
import type { Alert } from './notification.ts'
import type { Told } from './outbox.ts'

/** Changes within this time are one message. */
export const GROUP_MS = 30_000
/** While something fires, it is said again this often. */
export const REPEAT_MS = 4 * 3_600_000

/** What has to be said about a monitor. Without `watched` the monitor is gone. */
export type NewsItem = Pick<Alert, 'monitorId' | 'status' | 'firedAtMs' | 'resolvedAtMs' | 'note'> & {
  watched: WatchedMonitor | undefined
}

export type News = { changed: NewsItem[]; firing: NewsItem[] }

/**
 * Compares what fires with what the destination was told. Nothing is remembered besides that, so a restart, a store that
 * failed or a change of the leader neither repeat nor lose anything. A monitor without data or with an error is what it was
 * before: it never looks resolved.
 */
export function findNews(
  { id }: Pick<Destination, 'id'>,
  watched: readonly WatchedMonitor[],
  told: Told | undefined,
  nowMs: number,
): News {
  const isTold = ({ monitor }: WatchedMonitor) => monitor.destinations?.includes(id) ?? true
  const firing = watched.filter((one) => isTold(one) && one.status.firedAtMs !== null).map(toFiring)
  const believed = told?.firing ?? new Map<string, number>()
  const fresh = firing.filter(({ monitorId, firedAtMs }) => believed.get(monitorId) !== firedAtMs)
  const still = new Set(firing.map(({ monitorId }) => monitorId))
  const resolved = [...believed]
    .filter(([monitorId]) => !still.has(monitorId))
    .map(([monitorId, firedAtMs]) => {
      const monitor = watched.find((one) => one.monitor.id === monitorId)
      return toResolved(monitorId, firedAtMs, monitor, nowMs)
    })
  return { changed: [...fresh, ...resolved], firing }
}

function toFiring(watched: WatchedMonitor): NewsItem {
  const { monitor, status } = watched
  return {
    monitorId: monitor.id,
    status: 'firing',
    firedAtMs: status.firedAtMs!,
    resolvedAtMs: null,
    watched,
  }
}

function toResolved(
  monitorId: string,
  firedAtMs: number,
  watched: WatchedMonitor | undefined,
  nowMs: number,
): NewsItem {
  const head = { monitorId, status: 'resolved' as const, firedAtMs, watched }
  if (watched === undefined) return { ...head, resolvedAtMs: nowMs, note: 'deleted' }
  if (watched.monitor.isPaused) return { ...head, resolvedAtMs: nowMs, note: 'paused' }
  if (watched.status.firedAtMs !== null) return { ...head, resolvedAtMs: nowMs, note: 'redirected' }
  return { ...head, resolvedAtMs: watched.status.certainSinceMs }
}
