import { useId, type InputHTMLAttributes, type ReactNode } from 'react'
import './fields.css'

type TextFieldProps = Omit<InputHTMLAttributes<HTMLInputElement>, 'onChange'> & {
  label: string
  error?: string | undefined
  hint?: ReactNode
  onChange: (value: string) => void
}

/** A text input with a label above it and a hint or an error below it. */
export function TextField({ label, error, hint, onChange, className = '', ...input }: TextFieldProps) {
  const id = useId()
  const noteId = `${id}-note`
  const note = error ?? hint
  return (
    <div className={`text-field ${className}`}>
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        {...input}
        onChange={(event) => onChange(event.target.value)}
        aria-invalid={error !== undefined}
        {...(note !== undefined && { 'aria-describedby': noteId })}
      />
      {note !== undefined && (
        <p id={noteId} className={error === undefined ? 'text-field-hint' : 'text-field-error'}>
          {note}
        </p>
      )}
    </div>
  )
}

type SelectFieldProps = {
  label: string
  value: string
  onChange: (value: string) => void
  options: readonly { value: string; label: string }[]
}

/** A native select with a label. */
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
