import { Link, useNavigate } from '@tanstack/react-router'
import {
  testTitle,
  describeEndState,
  formatDuration,
  type TestHistory,
  type TestRun,
  writeTerm,
} from '@playhead/model'
import { useSomeSessions } from '../api/sessions.ts'
import { useTests } from '../api/tests.ts'
import { EndStateBadge } from '../session-facts/end-state.tsx'
import { Cost } from '../session-facts/figures.tsx'
import { Age } from '../ui/data/age.tsx'
import { NotLoaded } from '../ui/data/error-notice.tsx'
import { SelectField } from '../ui/controls/fields.tsx'
import { MatrixTable, buildVariantMatrix } from './matrix-table.tsx'
import type { TestsSearch } from './tests-search.ts'
import './test-detail.css'

const RUNS_LISTED = 15
const SESSIONS_OF_A_RUN = 1_000

type TestDetailProps = { test: TestHistory; search: TestsSearch }

/** The details of a test: a matrix of inputs and attempts if it has inputs, otherwise its latest runs. */
export function TestDetail({ test, search }: TestDetailProps) {
  const filter = [
    writeTerm('test', testTitle(test)),
    test.file !== undefined && writeTerm('testFile', test.file),
    search.branch !== undefined && writeTerm('branch', search.branch),
  ]
  return (
    <div className="test-detail">
      {test.variants > 0 ? <Variants test={test} search={search} /> : <RunList runs={test.runs} />}
      <Link to="/sessions" search={{ q: filter.filter(Boolean).join(' ') }}>
        Show all {test.total} sessions
      </Link>
      <Link to="/graph" search={{ q: filter.filter(Boolean).join(' ') }}>
        Show decision graph
      </Link>
    </div>
  )
}

function Variants({ test, search }: TestDetailProps) {
  const navigate = useNavigate({ from: '/tests' })
  const identity = {
    test: testTitle(test),
    ...(test.file !== undefined && { testFile: test.file }),
    ...(search.branch !== undefined && { branch: search.branch }),
  }
  const history = useTests({ ...identity, runs: 200 })
  const runIds = distinctRuns(history.data?.[0]?.runs ?? test.runs)
  const runId = search.run ?? runIds[0]?.runId
  const sessions = useSomeSessions({ ...identity, runId, limit: SESSIONS_OF_A_RUN })
  return (
    <>
      {runIds.length > 0 && (
        <SelectField
          label="Run"
          value={runId ?? ''}
          onChange={(run) => void navigate({ search: (before) => ({ ...before, run }), resetScroll: false })}
          options={runIds.map(({ runId: id, text }) => ({ value: id, label: text }))}
        />
      )}
      {sessions.data === undefined ? (
        <NotLoaded query={sessions} lines={Math.min(8, test.variants)} />
      ) : (
        <MatrixTable
          matrix={buildVariantMatrix(sessions.data)}
          label={`Inputs and attempts of ${test.name}`}
        />
      )}
    </>
  )
}

/** The runs that included the test, newest first. */
function distinctRuns(runs: readonly TestRun[]): { runId: string; text: string }[] {
  const byId = new Map<string, TestRun>()
  for (const run of runs) if (run.runId !== undefined && !byId.has(run.runId)) byId.set(run.runId, run)
  return [...byId].map(([runId, run]) => {
    const facts = [new Date(run.startedAt).toLocaleString(), run.branch, run.commit?.slice(0, 8)]
    return { runId, text: facts.filter(Boolean).join(' · ') }
  })
}

function RunList({ runs }: { runs: readonly TestRun[] }) {
  return (
    <table className="run-list">
      <caption className="visually-hidden">Latest runs</caption>
      <thead>
        <tr>
          <th>State</th>
          <th>Started</th>
          <th>Duration</th>
          <th>Cost</th>
          <th>Branch</th>
          <th>Commit</th>
        </tr>
      </thead>
      <tbody>
        {runs.slice(0, RUNS_LISTED).map((run) => (
          <tr key={run.sessionId}>
            <td>
              <Link
                to="/sessions/$sessionId"
                params={{ sessionId: run.sessionId }}
                aria-label={`${describeEndState(run.endState)}: open the session`}
              >
                <EndStateBadge state={run.endState} />
              </Link>
            </td>
            <td>
              <Age time={run.startedAt} />
            </td>
            <td>{run.durationMs === null ? '–' : formatDuration(run.durationMs)}</td>
            <td>
              <Cost cost={run.cost} />
            </td>
            <td>{run.branch ?? '–'}</td>
            <td className="mono">{run.commit?.slice(0, 8) ?? '–'}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
