import { useState } from 'react'
import { useProjectId, useProjects, useUpdateProject, type Project } from '../api/projects.ts'
import { Button } from '../ui/controls/button.tsx'
import { ConfirmDialog } from '../ui/controls/dialog.tsx'
import { ErrorNotice } from '../ui/data/error-notice.tsx'
import { NotLoaded } from '../ui/data/not-loaded.tsx'
import { TextField } from '../ui/controls/text-field.tsx'

/** How long sessions are kept. */
export function RetentionSection() {
  const id = useProjectId()
  const projects = useProjects()
  const project = projects.data?.find((known) => known.id === id)
  return (
    <>
      <p className="dim">
        Sessions of “{project?.name ?? id}” that began longer ago than this are deleted, with everything of
        them, once an hour. Empty: they are kept for ever.
      </p>
      {project === undefined ? (
        <NotLoaded query={projects} lines={2} />
      ) : (
        <RetentionForm key={`${id} ${project.retentionDays}`} project={project} />
      )}
    </>
  )
}

const MOST_DAYS = 36_500

function RetentionForm({ project }: { project: Project }) {
  const before = project.retentionDays
  const [text, setText] = useState(before === null ? '' : String(before))
  const [isAsking, setIsAsking] = useState(false)
  const update = useUpdateProject(project.id)
  const days = text.trim() === '' ? null : Number(text)
  const isDays = days === null || (Number.isInteger(days) && days >= 1 && days <= MOST_DAYS)
  const isShorter = days !== null && (before === null || days < before)
  const save = () => update.mutate({ retentionDays: days }, { onSuccess: () => setIsAsking(false) })
  return (
    <>
      <form
        className="settings-form"
        onSubmit={(event) => {
          event.preventDefault()
          if (!isDays) return
          if (isShorter) setIsAsking(true)
          else save()
        }}
      >
        <TextField
          label="Days"
          inputMode="numeric"
          value={text}
          onChange={setText}
          placeholder="for ever"
          error={
            isDays ? undefined : `A whole number from 1 to ${MOST_DAYS.toLocaleString('en')}, or nothing.`
          }
        />
        <Button type="submit" look="accent" disabled={!isDays || days === before || update.isPending}>
          Save
        </Button>
      </form>
      {update.error !== null && !isAsking && <ErrorNotice error={update.error} />}
      <ConfirmDialog
        title={`Delete what is older than ${days} days?`}
        description={`Sessions of “${project.name}” that began more than ${days} days ago are deleted within the hour, and from then on as they get older. This can't be undone.`}
        action={`Keep ${days} days`}
        isOpen={isAsking}
        onOpenChange={setIsAsking}
        isWorking={update.isPending}
        error={update.error}
        onConfirm={save}
      />
    </>
  )
}
