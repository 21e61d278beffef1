import type { ReactNode } from 'react'
import { NotLoaded } from '../ui/data/error-notice.tsx'
import { Link } from '@tanstack/react-router'
import type { TimeRange } from '../session-filter/time-range.ts'
import './overview-panel.css'

type Loaded<Data> = { data: Data | undefined; error: Error | null; refetch: () => unknown }

type OverviewPanelProps<Data> = {
  title: string
  /** Explains the figures if the title does not. */
  note?: ReactNode
  isWide?: boolean
  query: Loaded<Data>
  isEmpty: (data: Data) => boolean
  empty: ReactNode
  children: (data: Data) => ReactNode
}

/** A panel of the overview, including its loading, error and empty states. */
export function OverviewPanel<Data>(props: OverviewPanelProps<Data>) {
  const { title, note, query, isEmpty, empty } = props
  return (
    <section className={`overview-panel${props.isWide === true ? ' is-wide' : ''}`} aria-label={title}>
      <header>
        <h2>{title}</h2>
        {note !== undefined && <span className="dim">{note}</span>}
      </header>
      {query.data === undefined ? (
        <NotLoaded query={query} lines={5} />
      ) : isEmpty(query.data) ? (
        <p className="overview-empty">{empty}</p>
      ) : (
        props.children(query.data)
      )}
    </section>
  )
}

type OverviewTableProps = {
  /** The heading of the first column. */
  of: string
  /** Whether there are bars between the names and the figures. */
  hasBars?: boolean
  narrow: readonly string[]
  wide?: string
  children: ReactNode
}

/** The table of a panel. */
export function OverviewTable({ of, hasBars = false, narrow, wide, children }: OverviewTableProps) {
  return (
    <table className="overview-table">
      <thead>
        <tr>
          <th>{of}</th>
          {hasBars && (
            <th className="bar">
              <span className="visually-hidden">Share</span>
            </th>
          )}
          {narrow.map((name) => (
            <th key={name} className="narrow">
              {name}
            </th>
          ))}
          {wide !== undefined && <th className="wide">{wide}</th>}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  )
}

type SessionsCellProps = {
  search: TimeRange & { q: string; sort?: string }
  title?: string
  className?: string
  children: ReactNode
}

/** A cell that links to its sessions. */
export function SessionsCell({ search, children, ...cell }: SessionsCellProps) {
  return (
    <td {...cell}>
      <Link to="/sessions" search={search}>
        {children}
      </Link>
    </td>
  )
}
