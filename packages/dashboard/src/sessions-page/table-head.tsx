import { ArrowDown, ArrowUp } from 'lucide-react'
import type { ReactNode } from 'react'
import { toggleSort, type SortColumn, type SortOrder } from './sort-order.ts'

type TableHeadProps = {
  sort: SortOrder
  onSort: (sort: SortOrder) => void
  isAllSelected: boolean
  onSelectAll: () => void
}

/** The names of the columns; those that can be sorted by are buttons. */
export function TableHead({ sort, onSort, isAllSelected, onSelectAll }: TableHeadProps) {
  const column = (name: SortColumn, label: string, className: string) => (
    <SortHead {...{ sort, onSort, name, className }}>{label}</SortHead>
  )
  return (
    <div role="row" aria-rowindex={1} className="session-row session-head">
      <span role="columnheader" className="session-check">
        <label>
          <span className="visually-hidden">Select all that are loaded</span>
          <input type="checkbox" checked={isAllSelected} onChange={onSelectAll} />
        </label>
      </span>
      <span role="columnheader" className="session-state">
        State
      </span>
      <span role="columnheader" className="session-name">
        Session
      </span>
      <span role="columnheader" className="session-tags">
        Tags
      </span>
      {column('steps', 'Steps', 'session-steps')}
      {column('tokens', 'Tokens', 'session-tokens')}
      {column('cost', 'Cost', 'session-cost')}
      {column('duration', 'Duration', 'session-duration')}
      {column('time', 'When', 'session-when')}
    </div>
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
