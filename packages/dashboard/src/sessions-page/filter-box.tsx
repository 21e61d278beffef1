import { Search, X, TriangleAlert } from 'lucide-react'
import { useEffect, useId, useRef } from 'react'
import { removeTerm, type FilterTerm, visibleText } from '@playhead/model'
import { IconButton } from '../ui/controls/button.tsx'
import { useFilterTyping } from './use-filter-typing.ts'
import type { Suggestion } from '../session-filter/suggest.ts'
import './filter-box.css'

type FilterBoxProps = { filter: string; onChange: (filter: string) => void }

/** The filter: terms become chips; keys and stored values are suggested. */
export function FilterBox({ filter, onChange }: FilterBoxProps) {
  const input = useRef<HTMLInputElement>(null)
  const listId = useId()
  const typing = useFilterTyping(filter, onChange, input)
  const { terms, suggestions, active } = typing
  const isShown = typing.isOpen && suggestions.length > 0
  useFocusKey(input)
  return (
    // A click next to the input focuses it.
    <div className="filter-box" onClick={() => input.current?.focus()}>
      <Search size={15} aria-hidden="true" />
      <FilterChips
        terms={terms}
        onRemove={(index) => onChange(removeTerm(filter, index))}
        onEdit={typing.edit}
      />
      <input
        ref={input}
        role="combobox"
        aria-label="Filter sessions"
        aria-expanded={isShown}
        aria-controls={listId}
        aria-autocomplete="list"
        aria-activedescendant={isShown && active >= 0 ? `${listId}-${active}` : undefined}
        placeholder={terms.length === 0 ? 'status:fail tool:search cost:>0.01 "charged twice"' : ''}
        spellCheck={false}
        autoComplete="off"
        value={typing.draft}
        onChange={(event) => typing.write(event.target.value)}
        onFocus={() => typing.setIsOpen(true)}
        onBlur={() => typing.setIsOpen(false)}
        onKeyDown={typing.onKeyDown}
      />
      {filter === '' ? (
        <kbd className="filter-key" aria-hidden="true">
          /
        </kbd>
      ) : (
        <IconButton label="Clear filter" onClick={() => onChange('')}>
          <X size={14} aria-hidden="true" />
        </IconButton>
      )}
      {isShown && (
        <SuggestionList
          id={listId}
          suggestions={suggestions}
          active={active}
          onChoose={typing.choose}
          onActive={typing.setActive}
        />
      )}
    </div>
  )
}

/** `/` focuses the box, unless the user is typing elsewhere. */
function useFocusKey(input: { current: HTMLInputElement | null }): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key !== '/' || event.metaKey || event.ctrlKey || event.altKey) return
      if ((event.target as HTMLElement).closest('input, textarea, select, [role="dialog"]') !== null) return
      event.preventDefault()
      input.current?.focus()
    }
    window.addEventListener('keydown', onKeyDown)
    return () => window.removeEventListener('keydown', onKeyDown)
  }, [input])
}

type FilterChipsProps = {
  terms: readonly FilterTerm[]
  onRemove: (index: number) => void
  onEdit: (index: number) => void
}

/** The terms of the filter; a click edits one. */
function FilterChips({ terms, onRemove, onEdit }: FilterChipsProps) {
  if (terms.length === 0) return null
  return (
    <ul className="filter-chips" aria-label="Filters">
      {terms.map((term, index) => (
        <li key={index} className={`filter-chip${term.problem === undefined ? '' : ' is-wrong'}`}>
          <button
            type="button"
            className="filter-chip-text"
            title={term.problem ?? 'Edit'}
            onClick={(event) => {
              event.stopPropagation()
              onEdit(index)
            }}
          >
            {term.problem !== undefined && <TriangleAlert size={12} aria-label="invalid:" />}
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

type SuggestionListProps = {
  id: string
  suggestions: readonly Suggestion[]
  active: number
  onActive: (index: number) => void
  onChoose: (suggestion: Suggestion) => void
}

function SuggestionList({ id, suggestions, active, onActive, onChoose }: SuggestionListProps) {
  const list = useRef<HTMLUListElement>(null)
  useEffect(() => {
    list.current?.children[active]?.scrollIntoView({ block: 'nearest' })
  }, [active])
  return (
    <ul ref={list} id={id} role="listbox" aria-label="Suggestions" className="suggestions">
      {suggestions.map((suggestion, index) => (
        <li
          key={suggestion.text}
          id={`${id}-${index}`}
          role="option"
          aria-selected={index === active}
          className="suggestion"
          // Keeps the focus in the input.
          onMouseDown={(event) => event.preventDefault()}
          onMouseMove={() => onActive(index)}
          onClick={(event) => {
            event.stopPropagation()
            onChoose(suggestion)
          }}
        >
          <span className="suggestion-label">{visibleText(suggestion.label)}</span>
          <span className="suggestion-hint">{suggestion.hint}</span>
        </li>
      ))}
    </ul>
  )
}
