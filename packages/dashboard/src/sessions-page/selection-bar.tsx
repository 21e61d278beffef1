import { Link } from '@tanstack/react-router'
import { Download, GitCompareArrows, Trash2, X } from 'lucide-react'
import { useState } from 'react'
import { countOf, type SessionSummary, shortSessionId } from '@playhead/model'
import { useDeleteSessions } from '../api/sessions.ts'
import { Button, IconButton } from '../ui/controls/button.tsx'
import { ConfirmDialog } from '../ui/controls/dialog.tsx'
import { callApi } from '../api/call-api.ts'
import './selection-bar.css'

type SelectionBarProps = { selected: readonly SessionSummary[]; onClear: () => void }

/** Actions for the selected sessions. */
export function SelectionBar({ selected, onClear }: SelectionBarProps) {
  const [isAsking, setIsAsking] = useState(false)
  const [problem, setProblem] = useState<string>()
  const [exported, setExported] = useState<number>()
  const deletion = useDeleteSessions()
  const what = countOf(selected.length, 'session')
  const save = () => {
    setProblem(undefined)
    exportSessions(selected, setExported)
      .catch((error: Error) => setProblem(error.message))
      .finally(() => setExported(undefined))
  }
  const remove = () =>
    deletion.mutate(
      selected.map(({ id }) => id),
      {
        onSuccess: () => {
          setIsAsking(false)
          onClear()
        },
      },
    )
  return (
    <div className="selection-bar" role="region" aria-label="Selected sessions">
      <strong>{selected.length} selected</strong>
      {problem !== undefined && (
        <span className="selection-problem" role="alert">
          {problem}
        </span>
      )}
      <CompareSelected selected={selected} />
      <Button onClick={save} disabled={exported !== undefined}>
        <Download size={14} aria-hidden="true" />
        {exported === undefined ? 'Export' : `Exporting ${exported} of ${selected.length}…`}
      </Button>
      <Button look="danger" onClick={() => setIsAsking(true)}>
        <Trash2 size={14} aria-hidden="true" />
        Delete
      </Button>
      <IconButton label="Clear selection" onClick={onClear}>
        <X size={15} aria-hidden="true" />
      </IconButton>
      <ConfirmDialog
        title={`Delete ${what}?`}
        description="This also deletes their steps, prompts, answers and logs. It can't be undone."
        action={`Delete ${what}`}
        isOpen={isAsking}
        onOpenChange={setIsAsking}
        isWorking={deletion.isPending}
        error={deletion.error}
        onConfirm={remove}
      />
    </div>
  )
}

/** Two sessions can be compared; the one that started first is A. */
function CompareSelected({ selected }: Pick<SelectionBarProps, 'selected'>) {
  const [a, b] = selected.toSorted((one, other) => (one.startedAt < other.startedAt ? -1 : 1))
  if (selected.length !== 2 || a === undefined || b === undefined) return null
  return (
    <Link to="/compare" search={{ a: a.id, b: b.id }} className="button button-accent">
      <GitCompareArrows size={14} aria-hidden="true" />
      Compare
    </Link>
  )
}

/** Saves one session as a recording, and several as a file with one recording per line. */
async function exportSessions(
  sessions: readonly SessionSummary[],
  onProgress: (done: number) => void,
): Promise<void> {
  const lines: string[] = []
  for (const { id } of sessions) {
    onProgress(lines.length + 1)
    lines.push(JSON.stringify(await callApi('GET /api/sessions/{id}/recording', { path: { id } })))
  }
  const [only] = sessions
  if (lines.length === 1 && only !== undefined)
    return saveFile(`${shortSessionId(only.id)}.playhead.json`, lines, 'application/json')
  saveFile(`${lines.length}-sessions.playhead.ndjson`, lines, 'application/x-ndjson')
}

function saveFile(name: string, lines: readonly string[], type: string): void {
  const url = URL.createObjectURL(new Blob([lines.join('\n'), '\n'], { type }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // The browser reads the file only after the click.
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
