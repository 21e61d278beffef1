import type { SessionSummary } from '@playhead/model'
import type { Store } from '../store/connect.ts'

type Page = { sessions: SessionSummary[]; nextCursor?: string }
type Cached = { page: Page; revision: number; readAtMs: number }

const MAX_PAGES = 64
/** The states of sessions depend on the clock too. */
const CACHE_MS = 30_000

const caches = new WeakMap<Store['sessions'], Map<string, Cached>>()

/**
 * Returns a page from memory if no session has changed since it was read. Only for the embedded engine, where nobody else
 * changes sessions, and for pages without running sessions, which may turn into lost ones.
 */
export async function cachePage(
  { engine, sessions }: Pick<Store, 'engine' | 'sessions'>,
  key: string,
  read: () => Promise<Page>,
): Promise<Page> {
  if (engine === undefined) return read()
  const pages = caches.get(sessions) ?? new Map<string, Cached>()
  caches.set(sessions, pages)
  const known = pages.get(key)
  if (known?.revision === sessions.revision && performance.now() - known.readAtMs < CACHE_MS)
    return known.page
  const { revision } = sessions
  const readAtMs = performance.now()
  const page = await read()
  pages.delete(key)
  if (page.sessions.some(({ endState }) => endState === 'running')) return page
  pages.set(key, { page, revision, readAtMs })
  if (pages.size > MAX_PAGES) pages.delete(pages.keys().next().value!)
  return page
}
