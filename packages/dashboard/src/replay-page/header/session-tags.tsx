import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Tag, X } from 'lucide-react'
import { useRef, useState, type KeyboardEvent } from 'react'
import { visibleText, type Session } from '@playhead/model'
import { useSessionSource, type TagEdit } from '../../api/session-source.ts'
import { Button } from '../../ui/controls/button.tsx'
import { useReplay } from '../playback/replay-context.ts'
import './session-tags.css'

const MAX_SHOWN = 12

/** The tags of the session, and a button to change them if the session is on a server. */
export function SessionTags() {
  const { tags, demo, id } = useReplay().timeline.session
  const canEdit = useSessionSource().editTags !== undefined
  const [isEditing, setIsEditing] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  if (isEditing)
    return (
      <TagEditor
        key={id}
        sessionId={id}
        tags={tags}
        onClose={() => {
          setIsEditing(false)
          // The button is back after the next render.
          requestAnimationFrame(() => button.current?.focus())
        }}
      />
    )
  if (tags.length === 0 && !demo && !canEdit) return null
  return (
    <span className="header-tags">
      {demo && <span className="header-tag is-demo">demo</span>}
      {tags.slice(0, MAX_SHOWN).map((tag) => (
        <span key={tag} className="header-tag" title={visibleText(tag)}>
          {visibleText(tag)}
        </span>
      ))}
      {tags.length > MAX_SHOWN && <span className="dim">+{tags.length - MAX_SHOWN}</span>}
      {canEdit && (
        <button ref={button} type="button" className="tags-edit" onClick={() => setIsEditing(true)}>
          <Tag size={12} aria-hidden="true" />
          {tags.length === 0 ? 'Add tag' : 'Edit tags'}
        </button>
      )}
    </span>
  )
}

function EditableTag({ tag, isBusy, onRemove }: { tag: string; isBusy: boolean; onRemove: () => void }) {
  return (
    <span className="header-tag is-editable">
      <span>{tag}</span>
      <button
        type="button"
        aria-label={`Remove tag ${tag}`}
        title="Remove"
        disabled={isBusy}
        onClick={onRemove}
      >
        <X size={12} aria-hidden="true" />
      </button>
    </span>
  )
}

type TagEditorProps = { sessionId: string; tags: readonly string[]; onClose: () => void }

/** Enter adds what was typed, or closes the editor if nothing was; Escape closes it. */
function TagEditor({ sessionId, tags, onClose }: TagEditorProps) {
  const { mutate, isPending, error } = useEditTags(sessionId)
  const [text, setText] = useState('')
  const field = useRef<HTMLInputElement>(null)
  const add = (onAdded: () => void) => {
    const tag = text.trim()
    if (tag === '') return onAdded()
    mutate(
      { add: [tag] },
      {
        onSuccess: () => {
          setText('')
          onAdded()
        },
      },
    )
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' && event.key !== 'Escape') return
    event.preventDefault()
    event.stopPropagation()
    if (event.key === 'Escape' || text.trim() === '') onClose()
    else if (!isPending) add(() => {})
  }
  const remove = (tag: string) => {
    mutate({ remove: [tag] })
    field.current?.focus()
  }
  return (
    <span className="header-tags tag-editor" role="group" aria-label="Edit tags">
      {tags.map((tag) => (
        <EditableTag key={tag} tag={visibleText(tag)} isBusy={isPending} onRemove={() => remove(tag)} />
      ))}
      <input
        ref={field}
        // The user asked for this field by pressing the button that it replaces.
        autoFocus
        value={text}
        maxLength={200}
        placeholder="New tag, Enter to add"
        aria-label="New tag"
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <Button disabled={isPending} onClick={() => add(onClose)}>
        Done
      </Button>
      {error !== null && (
        <span className="tag-error" role="alert">
          {error.message}
        </span>
      )}
    </span>
  )
}

/** Changes the tags of a session on the server, and on the page as soon as the server has them. */
function useEditTags(sessionId: string) {
  const source = useSessionSource()
  const client = useQueryClient()
  return useMutation({
    mutationFn: (edit: TagEdit) => source.editTags!(sessionId, edit),
    onSuccess: ({ tags }) => {
      client.setQueriesData<Session>({ queryKey: ['session', source.name] }, (data) =>
        data?.session.id === sessionId ? { ...data, session: { ...data.session, tags } } : data,
      )
      return client.invalidateQueries({ queryKey: ['stats'] })
    },
  })
}
