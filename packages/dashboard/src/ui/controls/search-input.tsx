import { Search } from 'lucide-react'
import { useEffect, useState } from 'react'
import './search-input.css'

const TYPING_PAUSE_MS = 200

/** A search field that reports its text when the user stops typing. */
export function SearchInput({
  label,
  placeholder = label,
  value,
  onChange,
}: {
  label: string
  placeholder?: string
  value: string
  onChange: (text: string) => void
}) {
  const [text, setText] = useState(value)
  useEffect(() => setText(value), [value])
  useEffect(() => {
    if (text === value) return
    const timer = setTimeout(() => onChange(text), TYPING_PAUSE_MS)
    return () => clearTimeout(timer)
  })
  return (
    <span className="search-input">
      <Search size={14} aria-hidden="true" />
      <input
        type="search"
        aria-label={label}
        placeholder={placeholder}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
    </span>
  )
}
