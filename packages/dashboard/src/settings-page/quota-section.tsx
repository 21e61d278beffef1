import { formatBytes, formatCount } from '@playhead/model'
import { useState } from 'react'
import { useProjectId, useProjects, useUpdateProject, useUsage, type Project } from '../api/projects.ts'
import { ShareBar } from '../ui/charts/share-bar.tsx'
import { Button } from '../ui/controls/button.tsx'
import { TextField } from '../ui/controls/fields.tsx'
import { ErrorNotice, NotLoaded } from '../ui/data/error-notice.tsx'

export function QuotaSection() {
  const id = useProjectId()
  const projects = useProjects()
  const project = projects.data?.find((known) => known.id === id)
  return (
    <>
      <p className="dim">
        How much “{project?.name ?? id}” may send a day. Days begin at midnight UTC. A project that has
        reached its quota gets 429 until then; other projects are not affected.
      </p>
      {project === undefined ? (
        <NotLoaded query={projects} lines={4} />
      ) : (
        <>
          <UsageToday project={project} />
          <QuotaForm key={`${id} ${project.dailySpans} ${project.dailyBytes}`} project={project} />
        </>
      )}
    </>
  )
}

function UsageToday({ project: { id, dailySpans, dailyBytes } }: { project: Project }) {
  const usage = useUsage(id)
  if (usage.data === undefined) return <NotLoaded query={usage} lines={2} />
  const { spans, bytes } = usage.data
  return (
    <table className="settings-table">
      <thead>
        <tr>
          <th>Today</th>
          <th className="health-bar">
            <span className="visually-hidden">Share</span>
          </th>
          <th className="number">Sent</th>
          <th className="number">Quota</th>
        </tr>
      </thead>
      <tbody>
        <UsageRow name="Spans and log records" used={spans} quota={dailySpans} format={formatCount} />
        <UsageRow name="Bytes of requests" used={bytes} quota={dailyBytes} format={formatBytes} />
      </tbody>
    </table>
  )
}

function UsageRow(props: {
  name: string
  used: number
  quota: number | null
  format: (amount: number) => string
}) {
  const { name, used, quota, format } = props
  return (
    <tr>
      <td>{name}</td>
      <td className="health-bar">
        {quota !== null && <ShareBar share={quota === 0 ? 1 : Math.min(1, used / quota)} />}
      </td>
      <td className="number">{format(used)}</td>
      <td className="number">{quota === null ? 'None' : format(quota)}</td>
    </tr>
  )
}

const MEGABYTE = 1_000_000

function QuotaForm({ project }: { project: Project }) {
  const { id, dailySpans, dailyBytes } = project
  const [spansText, setSpansText] = useState(dailySpans === null ? '' : String(dailySpans))
  const [megabytesText, setMegabytesText] = useState(dailyBytes === null ? '' : String(dailyBytes / MEGABYTE))
  const update = useUpdateProject(id)
  const spans = readAmount(spansText)
  const megabytes = readAmount(megabytesText)
  const bytes = typeof megabytes === 'number' ? Math.round(megabytes * MEGABYTE) : megabytes
  const isValid = spans !== undefined && bytes !== undefined
  const isChanged = spans !== dailySpans || bytes !== dailyBytes
  return (
    <>
      <form
        className="settings-form"
        onSubmit={(event) => {
          event.preventDefault()
          if (isValid) update.mutate({ dailySpans: spans, dailyBytes: bytes })
        }}
      >
        <TextField
          label="Spans a day"
          inputMode="numeric"
          value={spansText}
          onChange={setSpansText}
          placeholder="No quota"
          error={spans === undefined ? 'Enter a number, or leave empty.' : undefined}
        />
        <TextField
          label="Megabytes a day"
          inputMode="decimal"
          value={megabytesText}
          onChange={setMegabytesText}
          placeholder="No quota"
          error={bytes === undefined ? 'Enter a number, or leave empty.' : undefined}
        />
        <Button type="submit" look="accent" disabled={!isValid || !isChanged || update.isPending}>
          Save
        </Button>
      </form>
      {update.error !== null && <ErrorNotice error={update.error} />}
    </>
  )
}

/** Null for no quota; undefined for text that is no number. */
function readAmount(text: string): number | null | undefined {
  const typed = text.replaceAll(/[\s,]/g, '')
  if (typed === '') return null
  return /^\d+(\.\d+)?$/.test(typed) && Number(typed) <= Number.MAX_SAFE_INTEGER ? Number(typed) : undefined
}
