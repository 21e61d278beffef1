import { Link } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { countOf, describeEndState, shortSessionId, visibleText, type EndState } from '@playhead/model'
import { useReruns } from '../api/reruns.ts'
import { endStateColors, endStateIcons } from '../session-facts/end-state.tsx'
import { describeEvidence } from '../session-facts/evidence.ts'
import { Button } from '../ui/controls/button.tsx'
import type { ForkOrder, JobProgress } from './use-fork-job.ts'

type JobStatusProps = { job: JobProgress; onCancel: () => void; onBack: () => void }

/** What the terminal does with the job. */
export function JobStatus({ job, onCancel, onBack }: JobStatusProps) {
  const hasFailed = job.state === 'refused' || job.state === 'failed'
  return (
    <section className="fork-job" aria-label="Progress">
      <p role="status" className={hasFailed ? 'is-bad' : undefined}>
        {visibleText(describe(job))}
      </p>
      <SlowAnswer state={job.state} />
      {job.state === 'finished' && <JobEvidence order={job.order} />}
      <Runs job={job} />
      <footer className="dialog-foot">
        {hasFailed || job.state === 'finished' ? (
          <Button onClick={onBack}>Edit again</Button>
        ) : (
          <Button onClick={onCancel}>Cancel the run</Button>
        )}
      </footer>
    </section>
  )
}

/** With and without the edit. */
function runsOf({ times, edit }: ForkOrder): number {
  return times > 1 && edit !== undefined ? 2 * times : times
}

function describe({ state, sentence, sessionIds, lines, order }: JobProgress): string {
  const all = runsOf(order)
  switch (state) {
    case 'sending':
      return 'Sending…'
    case 'queued':
      return 'Waiting for the terminal…'
    case 'accepted':
      return 'The terminal is starting the agent…'
    case 'started':
      return all === 1 ? 'Running…' : `Running: ${sessionIds.length} of ${countOf(all, 'run')} started.`
    case 'finished':
      // The evidence below says the rest.
      return (all > 1 && lines.length === all ? undefined : sentence) ?? `Finished: ${countOf(all, 'run')}.`
    case 'refused':
      return sentence ?? 'The terminal refused the job.'
    case 'failed':
      return sentence ?? 'The job could not be sent.'
  }
}

const SLOW_AFTER_MS = 8_000

function SlowAnswer({ state }: Pick<JobProgress, 'state'>) {
  const [isSlow, setIsSlow] = useState(false)
  useEffect(() => {
    setIsSlow(false)
    if (state !== 'queued') return
    const timer = setTimeout(() => setIsSlow(true), SLOW_AFTER_MS)
    return () => clearTimeout(timer)
  }, [state])
  return isSlow ? (
    <p className="dim">The terminal has not answered yet. Is playhead dev still running?</p>
  ) : null
}

/** What the runs prove, if the edit was tried more than once. */
function JobEvidence({ order: { sessionId, stepId, edit } }: { order: ForkOrder }) {
  const { data } = useReruns(sessionId)
  const found = data?.evidence.find(
    (evidence) => evidence.stepId === stepId && JSON.stringify(evidence.edit) === JSON.stringify(edit),
  )
  return found === undefined || found.total < 2 ? null : (
    <p>
      <b>{visibleText(describeEvidence(found))}</b>
    </p>
  )
}

/** Every run that has begun, with its end once it is known, and why runs ended early. */
function Runs({ job: { order, sessionIds, lines } }: { job: JobProgress }) {
  const { data } = useReruns(order.sessionId)
  const reasons = new Set(lines.flatMap(({ reason }) => reason ?? []))
  const edited = new Set(data?.reruns.flatMap(({ id, edit }) => (edit === undefined ? [] : id)))
  const isMixed = order.times > 1 && sessionIds.some((id) => edited.has(id))
  const groups = isMixed
    ? {
        'With the change': sessionIds.filter((id) => edited.has(id)),
        Unchanged: sessionIds.filter((id) => !edited.has(id)),
      }
    : { Runs: sessionIds }
  return (
    <>
      {Object.entries(groups).map(
        ([title, ids]) =>
          ids.length > 0 && (
            <div key={title} className="fork-runs">
              <span className="dim">{title}</span>
              {ids.map((id) => (
                <Link key={id} to="/compare" search={{ a: order.sessionId, b: id, live: 'true' }}>
                  <RunEnd state={lines.find(({ session }) => session === id)?.endState} />
                  {shortSessionId(id)}
                </Link>
              ))}
            </div>
          ),
      )}
      {[...reasons].map((reason) => (
        <p key={reason} className="is-bad">
          {visibleText(reason)}
        </p>
      ))}
    </>
  )
}

function RunEnd({ state }: { state: EndState | null | undefined }) {
  const shown = state ?? 'running'
  const Icon = endStateIcons[shown]
  return <Icon size={14} color={endStateColors[shown]} aria-label={describeEndState(shown)} />
}
