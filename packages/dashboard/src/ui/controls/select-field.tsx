import { useId } from 'react'
import './select-field.css'

type SelectFieldProps = {
  label: string
  value: string
  onChange: (value: string) => void
  options: readonly { value: string; label: string }[]
}

/** One of many, by the browser's own list. */
export function SelectField({ label, value, onChange, options }: SelectFieldProps) {
  const id = useId()
  return (
    <span className="select-field">
      <label htmlFor={id}>{label}</label>
      <select id={id} value={value} onChange={(event) => onChange(event.target.value)}>
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
    </span>
  )
}
