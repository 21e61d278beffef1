import { useId, type ChangeEvent } from 'react'
import { findProblems, stepTitle, visibleText, type ForkEdit, type Session, type Step } from '@playhead/model'
import { useArgumentOrigins } from '../session-facts/argument-origins.ts'
import { isBareText, type EditField, type EditMode } from './fork-edit.ts'

type FieldName = keyof ForkEdit
type FieldsProps = {
  mode: EditMode
  values: Partial<Record<FieldName, string>>
  problems: Partial<Record<FieldName, string>>
  onChange: (name: FieldName, value: string) => void
}

/** The recorded parts of a step, editable in place. */
export function EditFields({ mode, values, problems, onChange }: FieldsProps) {
  return mode.fields.map((field, index) => (
    <EditArea
      key={field.name}
      field={field}
      isFirst={index === 0}
      value={values[field.name] ?? field.recorded}
      problem={problems[field.name]}
      onChange={(value) => onChange(field.name, value)}
    />
  ))
}

type AreaProps = {
  field: EditField
  isFirst: boolean
  value: string
  problem: string | undefined
  onChange: (value: string) => void
}

function EditArea({ field, isFirst, value, problem, onChange }: AreaProps) {
  const id = useId()
  const isChanged = value !== field.recorded
  const input = {
    id,
    value,
    spellCheck: false,
    // The dialog was opened to edit it.
    autoFocus: isFirst,
    className: field.isText ? undefined : 'mono',
    'aria-invalid': problem !== undefined,
    'aria-describedby': `${id}-note`,
    onChange: (event: ChangeEvent<HTMLInputElement | HTMLTextAreaElement>) => onChange(event.target.value),
  }
  return (
    <div className={`fork-field${isChanged ? ' is-changed' : ''}`}>
      <div className="fork-field-head">
        <label htmlFor={id}>{field.label}</label>
        {isChanged && (
          <button type="button" className="long-text-more" onClick={() => onChange(field.recorded)}>
            Undo
          </button>
        )}
      </div>
      {field.name === 'model' ? <input {...input} /> : <textarea rows={3} {...input} />}
      <p id={`${id}-note`} className={problem === undefined ? 'text-field-hint' : 'text-field-error'}>
        {problem ?? field.hint ?? ''}
        {problem !== undefined && isBareText(value) && (
          <button
            type="button"
            className="long-text-more"
            onClick={() => onChange(JSON.stringify(value.trim()))}
          >
            Add quotes
          </button>
        )}
      </p>
    </div>
  )
}

type OriginHintProps = { session: Session; step: Step; onMove: (stepId: string) => void }

/** For an action that failed because of an argument: the step that the value came from is the better place to edit. */
export function OriginHint({ session, step, onMove }: OriginHintProps) {
  const [problem] = findProblems(step)
  const origins = useArgumentOrigins(session, step)
  const found = problem && origins?.find(({ path }) => path === problem.path)
  const source = found?.trail.findLast(({ step: earlier }) => earlier.kind === 'action')
  if (problem === undefined || source === undefined) return null
  return (
    <p className="fork-hint">
      <span>
        <code>{visibleText(problem.path)}</code> came from step{' '}
        {session.steps.findIndex(({ id }) => id === source.step.id) + 1}{' '}
        <b>{visibleText(stepTitle(source.step))}</b>, which {visibleText(source.did)}.
      </span>
      <button type="button" className="long-text-more" onClick={() => onMove(source.step.id)}>
        Edit it there
      </button>
    </p>
  )
}
