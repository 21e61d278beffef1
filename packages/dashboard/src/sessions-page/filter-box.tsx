import { Search, X } from 'lucide-react'
import { useEffect, useId, useRef } from 'react'
import { removeTerm } from '../session-filter/parse-filter.ts'
import { IconButton } from '../ui/controls/button.tsx'
import { FilterChips } from './filter-chips.tsx'
import { SuggestionList } from './suggestion-list.tsx'
import { useFilterTyping } from './use-filter-typing.ts'
import './filter-box.css'

type FilterBoxProps = { filter: string; onChange: (filter: string) => void }

/** One box for every filter: terms become chips, keys and real values are suggested. */
export function FilterBox({ filter, onChange }: FilterBoxProps) {
  const input = useRef<HTMLInputElement>(null)
  const listId = useId()
  const typing = useFilterTyping(filter, onChange, input)
  const { terms, suggestions, active } = typing
  const isShown = typing.isOpen && suggestions.length > 0
  useFocusKey(input)
  return (
    // The room around the input belongs to it: a click there is for the input.
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
        <IconButton label="Clear the filter" onClick={() => onChange('')}>
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

/** `/` goes to the box, unless something is being typed elsewhere. */
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
