import { useState } from 'react'
import { useProjectId, useProjects, useUpdateProject, type Project } from '../api/projects.ts'
import { Button } from '../ui/controls/button.tsx'
import { ConfirmDialog } from '../ui/controls/dialog.tsx'
import { ErrorNotice, NotLoaded } from '../ui/data/error-notice.tsx'
import { TextField } from '../ui/controls/fields.tsx'
import { CodeBlock } from '../ui/data/code-block.tsx'

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

const EXAMPLE = `playhead.init({
  redact: [/\\b\\d{3}-\\d{2}-\\d{4}\\b/g],   // what matches is masked before it is sent
  capture: { content: false },           // or: structure only, no prompts and answers
})`

/** Where secrets are kept out: before they leave the agent. */
export function RedactionSection() {
  return (
    <>
      <p>
        Redaction happens in the SDK, before anything leaves your process, so that what must not be stored is
        never sent. Authorization headers are never recorded, and values that look like keys are masked by
        default.
      </p>
      <CodeBlock label="the code" text={EXAMPLE} />
      <p className="settings-said">
        The server stores what it is sent, as it is sent. What arrives through other OpenTelemetry SDKs is
        redacted by their own settings, or in a collector on the way. What should not have been sent can be
        deleted from the sessions list.
      </p>
    </>
  )
}
