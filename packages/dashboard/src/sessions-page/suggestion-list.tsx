import { visibleText } from '@playhead/model'
import { useEffect, useRef } from 'react'
import type { Suggestion } from '../session-filter/suggest.ts'

type SuggestionListProps = {
  id: string
  suggestions: readonly Suggestion[]
  active: number
  onActive: (index: number) => void
  onChoose: (suggestion: Suggestion) => void
}

export function SuggestionList({ id, suggestions, active, onActive, onChoose }: SuggestionListProps) {
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
          // The input keeps the focus; a press would take it away before the click is there.
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
