import { type Stats, addTerm, writeTerm } from '@playhead/model'
import { useCallback, useMemo, useRef, useState, type CSSProperties, type ReactNode } from 'react'
import { isUnreachable } from '../api/call-api.ts'
import { useProjectId } from '../api/projects.ts'
import { useSessionList } from '../api/sessions.ts'
import { ErrorNotice } from '../ui/data/error-notice.tsx'
import { useSelection } from './use-selection.ts'
import { SelectionBar } from './selection-bar.tsx'
import { SessionTable } from './session-table.tsx'
import { writeSort } from './sessions-search.ts'
import { useLiveList, MOST_ARRIVALS } from './use-live-list.ts'
import { useIsScrolled, useOffsets } from './use-offsets.ts'
import type { SessionSearch } from './use-session-search.ts'
import { ArrowUp, SearchX } from 'lucide-react'
import { Button } from '../ui/controls/button.tsx'
import { Skeleton } from '../ui/data/skeleton.tsx'
import './session-list.css'
import './session-table.css'

type SessionListProps = {
  search: SessionSearch
  list: ReturnType<typeof useSessionList>
  stats: Stats | undefined
  /** Rendered above the list, inside the scroller. */
  children: ReactNode
}

/** The scrollable page: the charts and the filter, then the live list. */
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
    isPaused: sessions.length > 0 && (isScrolled || isHovered),
  })
  const selection = useSelection(sessions)
  const { change } = search
  const addTag = useAddTerm(search, 'tag')
  const addScore = useAddTerm(search, 'score')
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
        <EmptyList search={search} list={list} />
        {sessions.length > 0 && (
          <SessionTable
            sessions={sessions}
            total={stats?.total}
            hasMore={list.hasNextPage}
            onReachEnd={more}
            scroller={scroller}
            offset={offset}
            scoreNames={search.scoreNames}
            onScore={addScore}
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

function useAddTerm({ q, change }: SessionSearch, key: string): (value: string) => void {
  return useCallback((value: string) => change({ q: addTerm(q, writeTerm(key, value)) }), [change, q, key])
}

/** The loading, error and empty states of the list. */
function EmptyList({ search, list }: Pick<SessionListProps, 'search' | 'list'>) {
  const { q, from, to, change } = search
  const hasRange = from !== undefined || to !== undefined
  const isStale = list.data !== undefined && list.error !== null && isUnreachable(list.error)
  if (list.error !== null && !isStale)
    return <ErrorNotice error={list.error} onRetry={() => void list.refetch()} />
  if (list.data === undefined) return <TableSkeleton />
  const isEmpty = list.data.pages.every(({ sessions }) => sessions.length === 0)
  // Without a filter, the page shows how to record the first session instead.
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

/** Shows the sessions that started while the list was paused. */
function NewPill({ count, onShow }: { count: number; onShow: () => void }) {
  return (
    <div className="new-pill" role="status">
      {count > 0 && (
        <button type="button" onClick={onShow}>
          <ArrowUp size={13} aria-hidden="true" />
          {count >= MOST_ARRIVALS ? `${MOST_ARRIVALS}+` : count} new
        </button>
      )}
    </div>
  )
}

type NothingFoundProps = {
  hasFilter: boolean
  hasRange: boolean
  onClearFilter: () => void
  onClearRange: () => void
}

/** No session matches; offers to clear the filter or the time range. */
function NothingFound({ hasFilter, hasRange, onClearFilter, onClearRange }: NothingFoundProps) {
  return (
    <div className="nothing-found" role="status">
      <SearchX size={22} aria-hidden="true" />
      <h2>No matching sessions</h2>
      <p className="dim">
        {hasFilter && hasRange
          ? 'No session matches both the filter and the time range.'
          : hasFilter
            ? 'Try fewer filter terms.'
            : 'Nothing was recorded in this period.'}
      </p>
      <div className="nothing-found-actions">
        {hasFilter && <Button onClick={onClearFilter}>Clear filter</Button>}
        {hasRange && <Button onClick={onClearRange}>Show all time</Button>}
      </div>
    </div>
  )
}

const ROWS = 12

/** Placeholder rows of the same height. */
function TableSkeleton() {
  return (
    <div className="session-table" role="status" aria-label="Loading sessions">
      {Array.from({ length: ROWS }, (_, index) => (
        <div key={index} className="session-skeleton">
          <Skeleton width={70} />
          <span>
            <Skeleton width={`${60 - ((index * 17) % 30)}%`} />
            <Skeleton width={`${40 - ((index * 13) % 20)}%`} height={10} />
          </span>
          <Skeleton width={160} />
        </div>
      ))}
    </div>
  )
}
