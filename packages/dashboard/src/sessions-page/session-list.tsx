import type { SessionSummary, Stats } from '@playhead/model'
import { useCallback, useMemo, useRef, useState, type CSSProperties, type ReactNode } from 'react'
import { isSilence } from '../api/fetch-json.ts'
import { useProjectId } from '../api/projects.ts'
import { useSessionList } from '../api/sessions.ts'
import { addTerm, writeTerm } from '../session-filter/parse-filter.ts'
import { ErrorNotice } from '../ui/data/error-notice.tsx'
import { NewPill } from './new-pill.tsx'
import { NothingFound } from './nothing-found.tsx'
import { nothingSelected, selectRange, toggleAll, toggleOne } from './selection.ts'
import { SelectionBar } from './selection-bar.tsx'
import { SessionTable } from './session-table.tsx'
import { writeSort } from './sort-order.ts'
import { TableSkeleton } from './table-skeleton.tsx'
import { useLiveList } from './use-live-list.ts'
import { useIsScrolled, useOffsets } from './use-offsets.ts'
import type { SessionSearch } from './use-session-search.ts'

type SessionListProps = {
  search: SessionSearch
  list: ReturnType<typeof useSessionList>
  stats: Stats | undefined
  /** What is above the list and scrolls with it, or sticks to the top. */
  children: ReactNode
}

/** The scrolling part of the page: what is above the list, then the list, kept true while sessions come in. */
export function SessionList({ search, list, stats, children }: SessionListProps) {
  const sessions = useMemo(() => list.data?.pages.flatMap((page) => page.sessions) ?? [], [list.data])
  const scroller = useRef<HTMLDivElement>(null)
  const offset = useOffsets(scroller, sessions.length > 0)
  const isScrolled = useIsScrolled(scroller)
  const [isHovered, setIsHovered] = useState(false)
  const live = useLiveList({
    project: useProjectId(),
    parameters: search.listParameters,
    isNewestFirst: search.isNewestFirst,
    isHeld: sessions.length > 0 && (isScrolled || isHovered),
  })
  const selection = useSelection(sessions)
  const { q, change } = search
  const addTag = useCallback((tag: string) => change({ q: addTerm(q, writeTerm('tag', tag)) }), [change, q])
  const { fetchNextPage } = list
  const more = useCallback(() => void fetchNextPage({ cancelRefetch: false }), [fetchNextPage])
  return (
    <div
      ref={scroller}
      className="sessions-page"
      style={{ '--sticky-top': `${offset.bar}px` } as CSSProperties}
    >
      {children}
      <NewPill
        count={live.arrivals.length}
        onShow={() => {
          live.show()
          scroller.current?.scrollTo({ top: 0 })
        }}
      />
      <div className="sessions-list" data-stale={list.isPlaceholderData}>
        <WithoutRows search={search} list={list} />
        {sessions.length > 0 && (
          <SessionTable
            sessions={sessions}
            total={stats?.total}
            hasMore={list.hasNextPage}
            onReachEnd={more}
            scroller={scroller}
            offset={offset}
            sort={search.sort}
            onSort={(sort) => change({ sort: writeSort(sort) })}
            selected={selection.ids}
            onSelect={selection.select}
            onSelectAll={selection.selectAll}
            onTag={addTag}
            onHoverChange={setIsHovered}
            fullDurationMs={stats?.durationMs.p95 ?? 0}
          />
        )}
      </div>
      {selection.chosen.length > 0 && <SelectionBar selected={selection.chosen} onClear={selection.clear} />}
    </div>
  )
}

/** What is in the place of rows: while they load, when they can't be had, and when there are none. */
function WithoutRows({ search, list }: Pick<SessionListProps, 'search' | 'list'>) {
  const { q, from, to, change } = search
  const hasRange = from !== undefined || to !== undefined
  const isKnown = list.data !== undefined && list.error !== null && isSilence(list.error)
  if (list.error !== null && !isKnown)
    return <ErrorNotice error={list.error} onRetry={() => void list.refetch()} />
  if (list.data === undefined) return <TableSkeleton />
  const isEmpty = list.data.pages.every(({ sessions }) => sessions.length === 0)
  // Without any filter, the page says how to record the first session instead.
  if (!isEmpty || (q === '' && !hasRange)) return null
  return (
    <NothingFound
      hasFilter={q !== ''}
      hasRange={hasRange}
      onClearFilter={() => change({ q: undefined })}
      onClearRange={() => change({ from: undefined, to: undefined })}
    />
  )
}

/** Which of the listed sessions are chosen; what is no longer listed is no longer chosen. */
function useSelection(sessions: readonly SessionSummary[]) {
  const [selection, setSelection] = useState(nothingSelected)
  const order = useMemo(() => sessions.map(({ id }) => id), [sessions])
  const listed = useMemo(() => {
    const there = new Set(order)
    return new Set([...selection.ids].filter((id) => there.has(id)))
  }, [order, selection])
  const select = useCallback(
    (id: string, isRange: boolean) =>
      setSelection((before) => (isRange ? selectRange(before, order, id) : toggleOne(before, id))),
    [order],
  )
  const chosen = useMemo(() => sessions.filter(({ id }) => listed.has(id)), [sessions, listed])
  return {
    ids: listed,
    chosen,
    select,
    selectAll: () => setSelection((before) => toggleAll(before, order)),
    clear: () => setSelection(nothingSelected),
  }
}
