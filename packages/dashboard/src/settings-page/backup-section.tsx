import { countOf, visibleText } from '@playhead/model'
import { useState } from 'react'
import { useLastRestore, useRestore, useUndoRestore, type RestorePlan } from '../api/restore.ts'
import { Button } from '../ui/controls/button.tsx'
import { ConfirmDialog } from '../ui/controls/dialog.tsx'
import { ErrorNotice } from '../ui/data/error-notice.tsx'
import './backup-section.css'

/** Downloads a backup, restores one after saying what that does, and undoes the last restore. */
export function BackupSection() {
  return (
    <>
      <p className="dim">
        A backup is one file with all projects, sessions and keys. The server keeps running meanwhile.
      </p>
      <a className="button" href="/api/backup" download>
        Download a backup
      </a>
      <h2>Restore</h2>
      <p>
        Adds the contents of a backup to this server. Existing data stays, and nothing is stored twice. Every
        row is checked first.
      </p>
      <RestoreForm />
      <LastRestore />
    </>
  )
}

function RestoreForm() {
  const [file, setFile] = useState<File>()
  const [withKeys, setWithKeys] = useState(false)
  const [isAsking, setIsAsking] = useState(false)
  const check = useRestore()
  const restore = useRestore()
  const choose = (chosen: File | undefined) => {
    setFile(chosen)
    check.reset()
    restore.reset()
  }
  const start = (dryRun: boolean) => {
    if (file === undefined) return
    if (dryRun) check.mutate({ file, withKeys, dryRun }, { onSuccess: () => setIsAsking(true) })
    else restore.mutate({ file, withKeys, dryRun }, { onSuccess: () => setIsAsking(false) })
  }
  return (
    <form
      className="backup-form"
      onSubmit={(event) => {
        event.preventDefault()
        start(true)
      }}
    >
      <label>
        Backup file
        <input type="file" accept=".tar" onChange={(event) => choose(event.target.files?.[0])} />
      </label>
      <label className="backup-keys">
        <input type="checkbox" checked={withKeys} onChange={(event) => setWithKeys(event.target.checked)} />
        Also restore keys. Their secrets then work on this server.
      </label>
      <Button type="submit" disabled={file === undefined || check.isPending}>
        {check.isPending ? 'Checking…' : 'Check and restore…'}
      </Button>
      {check.error !== null && <ErrorNotice error={check.error} />}
      {check.data !== undefined && (
        <ConfirmDialog
          title="Restore this backup?"
          description={<Plan plan={check.data.plan} />}
          action="Restore"
          isOpen={isAsking}
          onOpenChange={setIsAsking}
          isWorking={restore.isPending}
          error={restore.error}
          onConfirm={() => start(false)}
        />
      )}
      <p role="status">{restore.data !== undefined && 'The backup was restored.'}</p>
    </form>
  )
}

function LastRestore() {
  const { data } = useLastRestore()
  const undo = useUndoRestore()
  const [isAsking, setIsAsking] = useState(false)
  const last = data?.last
  if (last === undefined || last === null)
    return <p role="status">{undo.data !== undefined && 'The restore was undone.'}</p>
  return (
    <>
      <h2>Last restore</h2>
      <p>{new Date(last.restoredAt).toLocaleString()}</p>
      <Plan plan={last.plan} />
      <Button onClick={() => setIsAsking(true)}>Undo this restore…</Button>
      <ConfirmDialog
        title="Undo the last restore?"
        description="What it added is removed, and what it replaced comes back. What arrived since then stays."
        action="Undo it"
        isOpen={isAsking}
        onOpenChange={setIsAsking}
        isWorking={undo.isPending}
        error={undo.error}
        onConfirm={() => undo.mutate(undefined, { onSuccess: () => setIsAsking(false) })}
      />
    </>
  )
}

function Plan({ plan }: { plan: RestorePlan }) {
  const { projects, sessions, steps, keys, logs, objects, monitors, destinations } = plan
  const number = (value: number) => value.toLocaleString('en')
  return (
    <dl className="backup-plan">
      <dt>Backup of</dt>
      <dd>{visibleText(plan.backupCreatedAt)}</dd>
      <dt>Projects</dt>
      <dd>
        {projects.total} ({projects.added.length} new)
        {projects.replaced.length > 0 &&
          `, replaces the settings of ${visibleText(projects.replaced.join(', '))}`}
      </dd>
      <dt>Sessions</dt>
      <dd>
        {number(sessions.total)} ({number(sessions.added)} new)
      </dd>
      <dt>Steps</dt>
      <dd>
        {number(steps.total)} ({number(steps.added)} new, {number(steps.replaced)} replaced)
      </dd>
      <dt>Other</dt>
      <dd>
        {countOf(logs, 'log record')}, {countOf(objects, 'object')}, {countOf(monitors, 'monitor')},{' '}
        {countOf(destinations, 'destination')}
      </dd>
      <dt>Keys</dt>
      <dd>
        {keys.isIncluded ? (
          <>
            {keys.total}, which work on this server afterwards
            <ul>
              {keys.list.map(({ name, project, scopes }, index) => (
                <li key={index}>{visibleText(`${name} (project ${project}: ${scopes.join(', ')})`)}</li>
              ))}
            </ul>
          </>
        ) : (
          `${keys.total}, left out`
        )}
      </dd>
    </dl>
  )
}
