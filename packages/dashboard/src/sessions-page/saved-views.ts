import type { SessionsSearch } from './sessions-search.ts'

/** A search that somebody gave a name. */
export type SavedView = { name: string; search: Pick<SessionsSearch, 'q' | 'from' | 'to' | 'sort'> }

const KEY = 'playhead.views'
const MOST_VIEWS = 50

/** Views of the browser's own memory; whatever else is found there is not a view. */
export function readViews(text: string | null): SavedView[] {
  try {
    const parsed: unknown = JSON.parse(text ?? '[]')
    return Array.isArray(parsed) ? parsed.filter(isView) : []
  } catch {
    return []
  }
}

export function loadViews(): SavedView[] {
  return readViews(localStorage.getItem(KEY))
}

export function storeViews(views: readonly SavedView[]): void {
  localStorage.setItem(KEY, JSON.stringify(views))
}

/** One of the same name is replaced. */
export function addView(views: readonly SavedView[], view: SavedView): SavedView[] {
  return [...views.filter(({ name }) => name !== view.name), view].slice(-MOST_VIEWS)
}

export function isSameView(left: SavedView['search'], right: SavedView['search']): boolean {
  return (['q', 'from', 'to', 'sort'] as const).every((field) => left[field] === right[field])
}

function isView(value: unknown): value is SavedView {
  const { name, search } = (value ?? {}) as Partial<SavedView>
  return typeof name === 'string' && typeof search === 'object' && search !== null
}
