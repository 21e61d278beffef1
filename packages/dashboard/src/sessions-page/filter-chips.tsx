import { visibleText } from '@playhead/model'
import { TriangleAlert, X } from 'lucide-react'
import type { FilterTerm } from '../session-filter/parse-filter.ts'

type FilterChipsProps = {
  terms: readonly FilterTerm[]
  onRemove: (index: number) => void
  onEdit: (index: number) => void
}

/** The terms of the filter; a click takes one back into the box. */
export function FilterChips({ terms, onRemove, onEdit }: FilterChipsProps) {
  if (terms.length === 0) return null
  return (
    <ul className="filter-chips" aria-label="Filters">
      {terms.map((term, index) => (
        <li key={index} className={`filter-chip${term.problem === undefined ? '' : ' is-wrong'}`}>
          <button
            type="button"
            className="filter-chip-text"
            title={term.problem ?? 'Change'}
            onClick={(event) => {
              event.stopPropagation()
              onEdit(index)
            }}
          >
            {term.problem !== undefined && <TriangleAlert size={12} aria-label="can't be used:" />}
            {term.key === undefined ? (
              visibleText(term.text)
            ) : (
              <>
                <span className="filter-chip-key">{term.key.name}:</span>
                {visibleText(term.value)}
              </>
            )}
          </button>
          <button
            type="button"
            className="filter-chip-remove"
            aria-label={`Remove ${term.text}`}
            onClick={(event) => {
              event.stopPropagation()
              onRemove(index)
            }}
          >
            <X size={12} aria-hidden="true" />
          </button>
        </li>
      ))}
    </ul>
  )
}
