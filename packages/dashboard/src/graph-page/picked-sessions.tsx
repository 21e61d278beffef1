import { Link, useNavigate } from '@tanstack/react-router'
import { X } from 'lucide-react'
import { countOf, shortSessionId, visibleText, type DecisionGraph } from '@playhead/model'
import { useGraphSessions } from '../api/graph.ts'
import { EndStateBadge } from '../session-facts/end-state.tsx'
import { Age } from '../ui/data/age.tsx'
import { IconButton } from '../ui/controls/button.tsx'
import { ErrorNotice } from '../ui/data/error-notice.tsx'
import { SkeletonLines } from '../ui/data/skeleton.tsx'
import { filterParameters, readPick, readStepSet, type GraphSearch } from './graph-search.ts'
import { describeFailures, describeLift } from './metric-labels.ts'
import { failsMore } from './visible-graph.ts'

type PickedSessionsProps = {
  graph: DecisionGraph
  search: GraphSearch
  marked: string | undefined
  onMark: (sessionId: string | undefined) => void
  onClose: () => void
}

/** The sessions of the selected node or edge. Shift-click two to compare them. */
export function PickedSessions({ graph, search, marked, onMark, onClose }: PickedSessionsProps) {
  const navigate = useNavigate()
  const picked = readPick(search.pick)
  const sessions = useGraphSessions(
    picked === undefined ? undefined : { ...filterParameters(search), of: readStepSet(search.of), ...picked },
  )
  if (picked === undefined) return null
  const found = findPicked(graph, picked)
  const names = 'node' in picked ? [picked.node] : picked.edge
  return (
    <section className="picked" aria-label="Sessions">
      <header>
        <h2>{names.map(shortName).join(' → ')}</h2>
        <IconButton label="Close" onClick={onClose}>
          <X size={15} aria-hidden="true" />
        </IconButton>
      </header>
      {found !== undefined && (
        <p className="dim">
          {countOf(found.sessions, 'session')}, {describeFailures(found.failure)}
          {failsMore(found.failure, graph.failure) &&
            ` (${describeLift(found.failure, graph) ?? 'more than usual'})`}
        </p>
      )}
      {sessions.error !== null ? (
        <ErrorNotice error={sessions.error} onRetry={() => void sessions.refetch()} />
      ) : sessions.data === undefined ? (
        <SkeletonLines count={5} />
      ) : (
        <ul className="picked-list">
          {sessions.data.map((session) => (
            <li key={session.id}>
              <Link
                to="/sessions/$sessionId"
                params={{ sessionId: session.id }}
                className={session.id === marked ? 'picked-session is-marked' : 'picked-session'}
                onClick={(event) => {
                  if (!event.shiftKey) return
                  event.preventDefault()
                  if (marked === undefined || marked === session.id)
                    onMark(marked === session.id ? undefined : session.id)
                  else void navigate({ to: '/compare', search: { a: marked, b: session.id } })
                }}
              >
                <EndStateBadge state={session.endState} reason={session.endStateReason} />
                <span className="picked-asked">
                  {visibleText(session.test?.variant ?? session.inputPreview ?? session.name)}
                </span>
                <span className="dim mono">{shortSessionId(session.id)}</span>
                <Age time={session.startedAt} />
              </Link>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

function findPicked({ nodes, edges }: DecisionGraph, picked: NonNullable<ReturnType<typeof readPick>>) {
  if ('node' in picked) return nodes.find(({ id }) => id === picked.node)
  const [first, second] = picked.edge
  return edges.find(({ from, to }) => from === first && to === second)
}

function shortName(id: string): string {
  if (id === 'start') return 'Start'
  return visibleText(id.slice(id.indexOf(' ') + 1))
}
