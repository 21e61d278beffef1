import { useNavigate } from '@tanstack/react-router'
import { useState, type KeyboardEvent, type RefObject } from 'react'
import { useFieldValues } from '../api/values.ts'
import { addTerm, parseFilter, removeTerm } from '@playhead/model'
import { isWholeTerm, readDraft, suggest, type Suggestion } from '../session-filter/suggest.ts'

/** The state of the filter box: its text, its suggestions and its keys. */
export function useFilterTyping(
  filter: string,
  onChange: (filter: string) => void,
  input: RefObject<HTMLInputElement | null>,
) {
  const [draft, setDraft] = useState('')
  const [isOpen, setIsOpen] = useState(false)
  const [active, setActive] = useState(-1)
  const suggestions = useSuggestions(draft, isOpen)
  const navigate = useNavigate()
  const { terms } = parseFilter(filter)

  const write = (text: string) => {
    setDraft(text)
    setActive(-1)
    setIsOpen(true)
  }
  const commit = (text: string) => {
    if (text.trim() !== '') onChange(addTerm(filter, text.trim()))
    write('')
    setIsOpen(false)
  }
  const choose = (suggestion: Suggestion) => {
    input.current?.focus()
    if (suggestion.kind === 'key') write(suggestion.text)
    else if (suggestion.kind === 'session')
      void navigate({ to: '/sessions/$sessionId', params: { sessionId: suggestion.text } })
    else commit(suggestion.text)
  }
  const edit = (index: number) => {
    onChange(removeTerm(filter, index))
    write(terms[index]?.text ?? '')
    input.current?.focus()
  }
  const removeLast = () => onChange(removeTerm(filter, terms.length - 1))
  const typing: Typing = {
    draft,
    suggestions,
    active,
    isOpen,
    setActive,
    setIsOpen,
    choose,
    commit,
    removeLast,
  }
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    if (handleKey(event.key, typing)) event.preventDefault()
  }
  return { ...typing, terms, write, edit, onKeyDown }
}

function useSuggestions(draft: string, isOpen: boolean): Suggestion[] {
  const read = readDraft(draft)
  const partial = read.key === undefined ? '' : read.partial
  const { data = [] } = useFieldValues(isOpen ? read.key?.valuesOf : undefined, partial)
  return suggest(draft, read.key?.valuesOf === undefined ? [] : data)
}

type Typing = {
  draft: string
  suggestions: readonly Suggestion[]
  active: number
  isOpen: boolean
  setActive: (index: number) => void
  setIsOpen: (isOpen: boolean) => void
  choose: (suggestion: Suggestion) => void
  commit: (text: string) => void
  removeLast: () => void
}

/** Handles a key; returns false if the input should handle it. */
function handleKey(key: string, typing: Typing): boolean {
  const { draft, suggestions, active, isOpen } = typing
  if (key === 'ArrowDown' || key === 'ArrowUp') {
    moveActive(key === 'ArrowDown' ? 1 : -1, typing)
    return true
  }
  if (key === 'Enter') {
    const chosen = isOpen ? suggestions[active] : undefined
    if (chosen !== undefined) typing.choose(chosen)
    else typing.commit(draft)
    return true
  }
  if (key === 'Escape' && isOpen) {
    typing.setIsOpen(false)
    return true
  }
  if (key === 'Backspace' && draft === '') {
    typing.removeLast()
    return true
  }
  if (key === ' ' && isWholeTerm(draft)) {
    typing.commit(draft)
    return true
  }
  return false
}

function moveActive(step: 1 | -1, { suggestions, active, isOpen, setActive, setIsOpen }: Typing): void {
  if (!isOpen) return setIsOpen(true)
  // -1 is the input itself.
  const places = suggestions.length + 1
  setActive(((active + 1 + step + places) % places) - 1)
}
