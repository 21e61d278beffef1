import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { TimeRange } from '../session-filter/time-range.ts'

type OverviewTableProps = {
  /** What the first column names. */
  of: string
  /** True where bars stand between the names and the figures. */
  hasBars?: boolean
  narrow: readonly string[]
  wide?: string
  children: ReactNode
}

/** The table of a panel: names, bars where there are any, figures. */
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

/** A cell that leads to the sessions that it is about. */
export function SessionsCell({ search, children, ...cell }: SessionsCellProps) {
  return (
    <td {...cell}>
      <Link to="/sessions" search={search}>
        {children}
      </Link>
    </td>
  )
}
