import { useMutation, useQueryClient } from '@tanstack/react-query'
import { countOf, formatCost } from '@playhead/model'
import { useState } from 'react'
import { useProjectId } from '../api/projects.ts'
import { callWithProgress, type Progress } from '../api/call-api.ts'
import type { ProgressResults } from '@playhead/server/api-types'
import { Button } from '../ui/controls/button.tsx'
import { ErrorNotice } from '../ui/data/error-notice.tsx'

/** Recalculates all costs of the project with the current prices, and shows what changed. */
export function Reprice() {
  const project = useProjectId()
  const client = useQueryClient()
  const [progress, setProgress] = useState<Progress>()
  const work = useMutation({
    mutationFn: () => callWithProgress('POST /api/reprice', { query: { project } }, setProgress),
    onMutate: () => setProgress(undefined),
    onSuccess: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: ['sessions', project] }),
        client.invalidateQueries({ queryKey: ['stats', project] }),
      ]),
  })
  return (
    <>
      <Button onClick={() => work.mutate()} disabled={work.isPending}>
        {work.isPending ? 'Recalculating…' : 'Recalculate all costs'}
      </Button>
      {work.isPending && (
        <progress
          className="reprice-bar"
          aria-label="Progress"
          max={progress?.total ?? 1}
          {...(progress !== undefined && { value: progress.done })}
        />
      )}
      <div role="status" className="reprice-result">
        {work.isPending && progress !== undefined && (
          <p className="dim">
            {progress.done} of {countOf(progress.total, 'session')}
          </p>
        )}
        {work.data !== undefined && <Changes result={work.data} />}
      </div>
      {work.error !== null && <ErrorNotice error={work.error} onRetry={() => work.mutate()} />}
    </>
  )
}

function Changes({ result }: { result: ProgressResults['POST /api/reprice'] }) {
  if (result.steps === 0) return <p>Nothing changed: all costs are up to date.</p>
  const cost = (value: number | null) => (value === null ? 'no price' : formatCost(value))
  return (
    <>
      <p>
        {countOf(result.steps, 'step')} of {countOf(result.sessions, 'session')} changed.
      </p>
      <table className="settings-table">
        <thead>
          <tr>
            <th>Model</th>
            <th className="number">Steps</th>
            <th className="number">Before</th>
            <th className="number">After</th>
          </tr>
        </thead>
        <tbody>
          {result.models.map(({ model, steps, before, after }) => (
            <tr key={model}>
              <td>{model}</td>
              <td className="number">{steps.toLocaleString('en')}</td>
              <td className="number">{cost(before)}</td>
              <td className="number">{cost(after)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  )
}
