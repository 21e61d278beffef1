import { useState } from 'react'
import { useChangeIssue, type IssueChange, type IssueDetail } from '../api/issues.ts'
import { Button } from '../ui/controls/button.tsx'
import { TextField } from '../ui/controls/fields.tsx'
import { ErrorNotice } from '../ui/data/error-notice.tsx'
import { isUndecided } from './issue-keys.ts'

/** Resolve, ignore, reopen, and a note. */
export function IssueActions({ issue }: { issue: IssueDetail }) {
  const change = useChangeIssue()
  const save = (body: IssueChange) => change.mutate({ id: issue.id, ...body })
  return (
    <div className="issue-actions">
      {isUndecided(issue) ? (
        <>
          <Resolve newest={issue.versions.at(-1) ?? ''} isBusy={change.isPending} onSave={save} />
          <Ignore isBusy={change.isPending} onSave={save} />
        </>
      ) : (
        <Button disabled={change.isPending} onClick={() => save({ state: 'open' })}>
          Reopen
        </Button>
      )}
      <Note note={issue.note ?? ''} isBusy={change.isPending} onSave={save} />
      {change.error !== null && <ErrorNotice error={change.error} />}
    </div>
  )
}

type ActionProps = { isBusy: boolean; onSave: (change: IssueChange) => void }

function Resolve({ newest, isBusy, onSave }: ActionProps & { newest: string }) {
  const [version, setVersion] = useState(newest)
  const typed = version.trim()
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        onSave({ state: 'resolved', ...(typed !== '' && { version: typed }) })
      }}
    >
      <TextField
        label="Fixed in version"
        value={version}
        onChange={setVersion}
        maxLength={200}
        placeholder="newest"
      />
      <Button type="submit" look="accent" disabled={isBusy}>
        Resolve
      </Button>
    </form>
  )
}

function Ignore({ isBusy, onSave }: ActionProps) {
  const [count, setCount] = useState('')
  const sessions = Number(count)
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        onSave({ state: 'ignored', ...(sessions >= 1 && { sessions: Math.floor(sessions) }) })
      }}
    >
      <TextField
        label="Until this many more sessions"
        value={count}
        onChange={setCount}
        type="number"
        min={1}
        placeholder="forever"
      />
      <Button type="submit" disabled={isBusy}>
        Ignore
      </Button>
    </form>
  )
}

function Note({ note, isBusy, onSave }: ActionProps & { note: string }) {
  const [text, setText] = useState(note)
  return (
    <form
      className="issue-note-form"
      onSubmit={(event) => {
        event.preventDefault()
        onSave({ note: text.trim() })
      }}
    >
      <TextField
        label="Note"
        value={text}
        onChange={setText}
        maxLength={4_000}
        placeholder="Who works on it, and what is known"
      />
      <Button type="submit" disabled={isBusy || text.trim() === note}>
        Save note
      </Button>
    </form>
  )
}
