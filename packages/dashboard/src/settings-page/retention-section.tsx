import { useState } from 'react'
import { useProjectId, useProjects, useUpdateProject, type Project } from '../api/projects.ts'
import { Button } from '../ui/controls/button.tsx'
import { ConfirmDialog } from '../ui/controls/dialog.tsx'
import { ErrorNotice, NotLoaded } from '../ui/data/error-notice.tsx'
import { TextField } from '../ui/controls/fields.tsx'
import { CodeBlock } from '../ui/data/code-block.tsx'

export function RetentionSection() {
  const id = useProjectId()
  const projects = useProjects()
  const project = projects.data?.find((known) => known.id === id)
  return (
    <>
      <p className="dim">
        Older sessions of “{project?.name ?? id}” are deleted with all their data, once an hour. Leave empty
        to keep them forever.
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
          placeholder="Forever"
          error={
            isDays
              ? undefined
              : `Enter a whole number from 1 to ${MOST_DAYS.toLocaleString('en')}, or leave empty.`
          }
        />
        <Button type="submit" look="accent" disabled={!isDays || days === before || update.isPending}>
          Save
        </Button>
      </form>
      {update.error !== null && !isAsking && <ErrorNotice error={update.error} />}
      <ConfirmDialog
        title={`Delete sessions older than ${days} days?`}
        description={`Sessions of “${project.name}” that started more than ${days} days ago are deleted within the hour, and newer ones once they reach that age. This can't be undone.`}
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

const EXAMPLE = `playhead.init({
  redact: [/\\b\\d{3}-\\d{2}-\\d{4}\\b/g],   // matches are masked before they are sent
  capture: { content: false },           // or record no prompts and answers at all
})`

export function RedactionSection() {
  return (
    <>
      <p>
        The SDK redacts data before it leaves your process, so secrets are never sent. Authorization headers
        are never recorded, and values that look like keys are masked by default.
      </p>
      <CodeBlock label="code" text={EXAMPLE} />
      <p className="settings-note">
        The server stores data as it receives it. Redact data from other OpenTelemetry SDKs with their
        settings or in a collector. You can delete sessions that contain secrets from the sessions list.
      </p>
    </>
  )
}
