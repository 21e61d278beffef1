import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { GitFork, Repeat } from 'lucide-react'
import {
  countOf,
  describeRerun,
  shortSessionId,
  stepTitle,
  visibleText,
  type Lane,
  type SessionSummary,
} from '@playhead/model'
import { useReruns } from '../../api/reruns.ts'
import { useSessionSource } from '../../api/session-source.ts'
import { describeEdit, describeEvidence } from '../../session-facts/evidence.ts'
import { useReplay } from '../playback/replay-context.ts'
import './lineage.css'

/** What a session is a re-run of, and what was run again from it. */
export function Lineage() {
  const { session } = useReplay().timeline
  return (
    <>
      {session.parentId !== undefined && <OwnRerun session={session} parentId={session.parentId} />}
      <RerunsOf session={session} />
    </>
  )
}

const laneFacts: Record<Lane, string> = {
  tape: 'model and tools from the tape',
  'live-tools': 'model from the tape, tools live',
  'live-model': 'model live, tools from the tape',
  live: 'model and tools live',
  fork: 'from the tape up to there, then live',
}

function OwnRerun({ session, parentId }: { session: SessionSummary; parentId: string }) {
  const { lane = 'tape', edit, parentStepId, id } = session
  const Icon = lane === 'fork' ? GitFork : Repeat
  const start = useParentStep(parentId, parentStepId)
  return (
    <div className="lineage" role="note" aria-label="Re-run">
      <Icon size={14} aria-hidden="true" />
      <span>
        {lane === 'fork' ? 'Fork of ' : 'Re-run of '}
        <Link
          to="/sessions/$sessionId"
          params={{ sessionId: parentId }}
          search={parentStepId === undefined ? {} : { step: parentStepId }}
          title={describeRerun(session)}
        >
          {shortSessionId(parentId)}
          {start !== undefined && <> at {visibleText(start)}</>}
        </Link>
      </span>
      <span>{laneFacts[lane]}</span>
      {lane === 'fork' && (
        <span>{edit === undefined ? 'unchanged' : <>with {visibleText(describeEdit(edit))}</>}</span>
      )}
      {lane === 'fork' && <ForkEvidence parentId={parentId} session={session} />}
      <Link to="/compare" search={{ a: parentId, b: id }}>
        Compare with the original
      </Link>
      {lane === 'tape' && (
        <span className="lineage-caution">A matching re-run proves nothing about the model.</span>
      )}
    </div>
  )
}

/** What this fork and its siblings showed together. */
function ForkEvidence({
  parentId,
  session: { parentStepId, edit },
}: {
  parentId: string
  session: SessionSummary
}) {
  const { data } = useReruns(parentId)
  const found = data?.evidence.find(
    (evidence) =>
      evidence.stepId === parentStepId &&
      evidence.total + evidence.control.total > 1 &&
      (edit === undefined || JSON.stringify(evidence.edit) === JSON.stringify(edit)),
  )
  if (found === undefined) return null
  return <span className="lineage-evidence">{visibleText(describeEvidence(found))}</span>
}

/** The title of the step that a fork began at. */
function useParentStep(parentId: string, stepId: string | undefined): string | undefined {
  const source = useSessionSource()
  const { data } = useQuery({
    queryKey: ['parent-step', source.name, parentId, stepId],
    queryFn: ({ signal }) => source.readStep(parentId, stepId!, signal),
    enabled: stepId !== undefined,
    staleTime: Infinity,
    retry: false,
  })
  return data === undefined ? undefined : stepTitle(data)
}

const EVIDENCE_SHOWN = 3

function RerunsOf({ session: { id } }: { session: SessionSummary }) {
  const { timeline, goTo } = useReplay()
  const { data } = useReruns(id)
  if (data === undefined || data.reruns.length === 0) return null
  return (
    <div className="lineage" role="note" aria-label="Re-runs of this session">
      <GitFork size={14} aria-hidden="true" />
      <Link to="/sessions" search={{ q: `parent:${id}` }}>
        {countOf(data.reruns.length, 're-run')}
      </Link>
      {data.evidence.slice(0, EVIDENCE_SHOWN).map((evidence, index) => {
        const position = timeline.positionOf.get(evidence.stepId)
        return (
          <span key={index} className="lineage-evidence">
            {visibleText(describeEvidence(evidence))}
            {position !== undefined && (
              <button type="button" className="long-text-more" onClick={() => goTo(evidence.stepId)}>
                at step {position + 1}
              </button>
            )}
          </span>
        )
      })}
      {data.evidence.length > EVIDENCE_SHOWN && (
        <span className="dim">and {data.evidence.length - EVIDENCE_SHOWN} more</span>
      )}
    </div>
  )
}
