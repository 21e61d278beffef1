import { useNavigate } from '@tanstack/react-router'
import { useVirtualizer } from '@tanstack/react-virtual'
import { visibleText, type SessionSummary } from '@playhead/model'
import { useEffect, useRef, useState, type KeyboardEvent, type RefObject, type ReactNode } from 'react'
import { Skeleton } from '../ui/data/skeleton.tsx'
import { NARROW, useMediaQuery } from '../ui/browser/use-media-query.ts'
import { SessionRow } from './session-row.tsx'
import { type SortOrder, toggleSort, type SortColumn } from './sessions-search.ts'
import { ArrowDown, ArrowUp } from 'lucide-react'
import './session-table.css'

const ROW_HEIGHT = 48
const CARD_HEIGHT = 106
const OVERSCAN = 12
/** The next page is fetched this many rows before the end. */
const FETCH_AHEAD = 40

export type SessionTableProps = {
  sessions: readonly SessionSummary[]
  /** The total number of sessions, if it is known. */
  total: number | undefined
  hasMore: boolean
  onReachEnd: () => void
  scroller: RefObject<HTMLElement | null>
  /** The offset of the first row, and the height of the sticky headers. */
  offset: { list: number; sticky: number }
  sort: SortOrder
  onSort: (sort: SortOrder) => void
  selected: ReadonlySet<string>
  onSelect: (id: string, isRange: boolean) => void
  onSelectAll: () => void
  onTag: (tag: string) => void
  /** The scores that the filter is about, which the list can be sorted by. */
  scoreNames: readonly string[]
  onScore: (name: string) => void
  onHoverChange: (isHovered: boolean) => void
  fullDurationMs: number
}

/** The list: a table on a desktop, cards on a phone. Only visible rows are rendered. */
export function SessionTable(props: SessionTableProps) {
  const { sessions, hasMore } = props
  const [active, setActive] = useState(0)
  const grid = useRef<HTMLDivElement>(null)
  const rows = useRows(props)
  const onKeyDown = useRowKeys({
    ...props,
    active,
    setActive,
    grid,
    reveal: (index) => rows.scrollToIndex(index),
  })
  return (
    <div
      ref={grid}
      role="grid"
      aria-label="Sessions"
      aria-rowcount={(props.total ?? sessions.length) + 1}
      aria-multiselectable="true"
      className="session-table"
      onKeyDown={onKeyDown}
    >
      <TableHead
        sort={props.sort}
        onSort={props.onSort}
        scoreNames={props.scoreNames}
        isAllSelected={sessions.length > 0 && sessions.every(({ id }) => props.selected.has(id))}
        onSelectAll={props.onSelectAll}
      />
      <div
        role="rowgroup"
        className="session-rows"
        style={{ height: rows.getTotalSize() }}
        onPointerEnter={({ pointerType }) => props.onHoverChange(pointerType === 'mouse')}
        onPointerLeave={() => props.onHoverChange(false)}
      >
        {rows.getVirtualItems().map(({ index, start, size }) => {
          const session = sessions[index]!
          return (
            <SessionRow
              key={session.id}
              session={session}
              index={index}
              isSelected={props.selected.has(session.id)}
              isActive={index === Math.min(active, sessions.length - 1)}
              fullDurationMs={props.fullDurationMs}
              top={start - props.offset.list}
              height={size}
              onSelect={props.onSelect}
              onTag={props.onTag}
              onScore={props.onScore}
              onFocus={setActive}
            />
          )
        })}
      </div>
      {hasMore && <MoreRows />}
    </div>
  )
}

/** Virtualizes the rows, and fetches the next page near the last one. */
function useRows({ sessions, scroller, offset, hasMore, onReachEnd }: SessionTableProps) {
  const isNarrow = useMediaQuery(NARROW)
  const rows = useVirtualizer({
    count: sessions.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => (isNarrow ? CARD_HEIGHT : ROW_HEIGHT),
    getItemKey: (index) => sessions[index]?.id ?? index,
    overscan: OVERSCAN,
    scrollMargin: offset.list,
    scrollPaddingStart: offset.sticky,
  })
  useEffect(() => rows.measure(), [isNarrow, rows])
  const last = rows.getVirtualItems().at(-1)?.index ?? 0
  useEffect(() => {
    if (hasMore && last >= sessions.length - FETCH_AHEAD) onReachEnd()
  }, [hasMore, last, sessions.length, onReachEnd])
  return rows
}

function MoreRows() {
  return (
    <div className="session-more" role="presentation">
      <Skeleton width="30%" />
      <Skeleton width="55%" />
    </div>
  )
}

type RowKeys = SessionTableProps & {
  active: number
  setActive: (index: number) => void
  grid: RefObject<HTMLDivElement | null>
  reveal: (index: number) => void
}

/** Arrows move, Enter opens, x selects, Shift with an arrow extends the selection. */
function useRowKeys({ sessions, active, setActive, grid, reveal, onSelect }: RowKeys) {
  const navigate = useNavigate()
  const move = (to: number) => {
    const index = Math.max(0, Math.min(sessions.length - 1, to))
    setActive(index)
    reveal(index)
    // The row may only exist after the scroll is rendered.
    requestAnimationFrame(() =>
      grid.current?.querySelector<HTMLElement>(`[data-index="${index}"]`)?.focus({ preventScroll: true }),
    )
    return sessions[index]
  }
  return (event: KeyboardEvent<HTMLElement>) => {
    const isRow = (event.target as HTMLElement).dataset.index !== undefined
    const session = sessions[active]
    if (!isRow || session === undefined || event.metaKey || event.ctrlKey || event.altKey) return
    const steps: Record<string, number> = {
      ArrowDown: 1,
      j: 1,
      ArrowUp: -1,
      k: -1,
      PageDown: 12,
      PageUp: -12,
      Home: -Infinity,
      End: Infinity,
    }
    const step = steps[event.key]
    if (step !== undefined) {
      const reached = move(active + step)
      if (event.shiftKey && reached !== undefined) {
        onSelect(session.id, true)
        onSelect(reached.id, true)
      }
    } else if (event.key === 'Enter') {
      void navigate({ to: '/sessions/$sessionId', params: { sessionId: session.id } })
    } else if (event.key === 'x' || event.key === 'X' || event.key === ' ') {
      onSelect(session.id, event.shiftKey)
    } else return
    event.preventDefault()
  }
}

type TableHeadProps = {
  sort: SortOrder
  onSort: (sort: SortOrder) => void
  scoreNames: readonly string[]
  isAllSelected: boolean
  onSelectAll: () => void
}

/** Column headings; sortable ones are buttons. */
function TableHead({ sort, onSort, scoreNames, isAllSelected, onSelectAll }: TableHeadProps) {
  const column = (name: SortColumn, label: string, className: string) => (
    <SortHead {...{ sort, onSort, name, className }}>{label}</SortHead>
  )
  return (
    <div role="row" aria-rowindex={1} className="session-row session-head">
      <span role="columnheader" className="session-check">
        <label>
          <span className="visually-hidden">Select all loaded sessions</span>
          <input type="checkbox" checked={isAllSelected} onChange={onSelectAll} />
        </label>
      </span>
      <span role="columnheader" className="session-state">
        State
      </span>
      <span role="columnheader" className="session-name">
        Session
      </span>
      <ScoreHead sort={sort} onSort={onSort} names={scoreNames} />
      {column('steps', 'Steps', 'session-steps')}
      {column('tokens', 'Tokens', 'session-tokens')}
      {column('cost', 'Cost', 'session-cost')}
      {column('duration', 'Duration', 'session-duration')}
      {column('time', 'Started', 'session-when')}
    </div>
  )
}

/** The heading of tags and scores. It sorts by the score that the filter is about. */
function ScoreHead({
  sort,
  onSort,
  names,
}: Pick<TableHeadProps, 'sort' | 'onSort'> & { names: readonly string[] }) {
  const [name] = names
  if (name === undefined)
    return (
      <span role="columnheader" className="session-tags">
        Tags
      </span>
    )
  return (
    <SortHead sort={sort} onSort={onSort} name={`score:${name}`} className="session-tags">
      {visibleText(name)}
    </SortHead>
  )
}

type SortHeadProps = {
  sort: SortOrder
  onSort: (sort: SortOrder) => void
  name: SortColumn
  className: string
  children: ReactNode
}

function SortHead({ sort, onSort, name, className, children }: SortHeadProps) {
  const isSorted = sort.column === name
  const Arrow = sort.isAscending ? ArrowUp : ArrowDown
  return (
    <span
      role="columnheader"
      className={className}
      aria-sort={!isSorted ? 'none' : sort.isAscending ? 'ascending' : 'descending'}
    >
      <button type="button" className="sort-head" onClick={() => onSort(toggleSort(sort, name))}>
        {children}
        {isSorted && <Arrow size={12} aria-hidden="true" />}
      </button>
    </span>
  )
}
