import { useState, type ReactNode } from 'react'
import { Button } from '../../ui/controls/button.tsx'
import { SelectField, TextField } from '../../ui/controls/fields.tsx'
import {
  fieldsOf,
  isComplete,
  kindNames,
  suggestName,
  type DestinationDraft,
  type Field,
} from './destination-draft.ts'
import type { DestinationKind } from '../../api/alerts.ts'

const kinds = Object.entries(kindNames).map(([value, label]) => ({ value, label }))
const encryptions = [
  { value: 'starttls', label: 'STARTTLS (587)' },
  { value: 'tls', label: 'TLS (465)' },
  { value: 'none', label: 'None (25)' },
]
const ports: Readonly<Record<string, string>> = { starttls: '587', tls: '465', none: '25' }

type DestinationFormProps = {
  initial: DestinationDraft
  /** The names of secrets that are saved; undefined for a new destination, whose kind can be chosen. */
  saved?: readonly string[]
  action: string
  isWorking: boolean
  error: Error | null
  onSubmit: (draft: DestinationDraft) => void
  children?: ReactNode
}

/** The fields of a destination, new or saved. */
export function DestinationForm(props: DestinationFormProps) {
  const { initial, saved, action, isWorking, error, onSubmit, children } = props
  const [draft, setDraft] = useState(initial)
  const change = (part: Partial<DestinationDraft>) => setDraft((before) => ({ ...before, ...part }))
  return (
    <form
      className="settings-form destination-form"
      onSubmit={(event) => {
        event.preventDefault()
        onSubmit(draft)
      }}
    >
      {saved === undefined && (
        <SelectField
          label="Kind"
          value={draft.kind}
          options={kinds}
          onChange={(kind) => change({ kind: kind as DestinationKind })}
        />
      )}
      <TextField
        label="Name"
        value={draft.name}
        placeholder={suggestName(draft)}
        maxLength={200}
        onChange={(name) => change({ name })}
      />
      {fieldsOf[draft.kind].map((field) => (
        <DraftField
          key={`${draft.kind}-${field.name}`}
          field={field}
          draft={draft}
          isSaved={saved?.includes(field.name) ?? false}
          change={change}
        />
      ))}
      <TextChoice isChosen={draft.includesText} onChange={(includesText) => change({ includesText })} />
      {error !== null && (
        <p className="dialog-error" role="alert">
          {error.message}
        </p>
      )}
      <div className="destination-form-foot">
        <Button type="submit" look="accent" disabled={isWorking || !isComplete(draft, saved === undefined)}>
          {action}
        </Button>
        {children}
      </div>
    </form>
  )
}

function TextChoice({ isChosen, onChange }: { isChosen: boolean; onChange: (isChosen: boolean) => void }) {
  return (
    <label className="destination-text">
      <input type="checkbox" checked={isChosen} onChange={(event) => onChange(event.target.checked)} />
      <span>
        Quote prompts and errors{' '}
        <span className="dim">Without it, messages contain names, figures and links only.</span>
      </span>
    </label>
  )
}

type DraftFieldProps = {
  field: Field
  draft: DestinationDraft
  isSaved: boolean
  change: (part: Partial<DestinationDraft>) => void
}

function DraftField({ field, draft, isSaved, change }: DraftFieldProps) {
  const { name, label, hint, placeholder, isSecret, isOptional } = field
  if (name === 'security')
    return (
      <SelectField
        label={label}
        value={draft.security}
        options={encryptions}
        onChange={(security) => change({ security, port: ports[security] ?? draft.port })}
      />
    )
  return (
    <TextField
      className={name === 'url' || name === 'to' ? 'is-wide' : name === 'port' ? 'is-short' : ''}
      label={isOptional === true && !isSaved ? `${label} (optional)` : label}
      value={draft[name]}
      // Not `password`: browsers would offer to save it, and fill in the login.
      type="text"
      autoComplete="off"
      spellCheck={false}
      placeholder={isSaved ? 'Saved; type to replace it' : (placeholder ?? '')}
      {...(hint !== undefined && { hint })}
      {...(isSecret === true && { 'data-secret': true })}
      onChange={(value) => change({ [name]: value })}
    />
  )
}
