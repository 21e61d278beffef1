import { useId, type InputHTMLAttributes, type ReactNode } from 'react'
import './text-field.css'

type TextFieldProps = Omit<InputHTMLAttributes<HTMLInputElement>, 'onChange'> & {
  label: string
  error?: string | undefined
  hint?: ReactNode
  onChange: (value: string) => void
}

/** An input with its name above it, and what is wrong with it below. */
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
