import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { SearchX } from 'lucide-react'
import { useMemo, useState } from 'react'
import { countOf, visibleText, type DecisionGraph } from '@playhead/model'
import { useDecisionGraph } from '../api/graph.ts'
import { ErrorNotice } from '../ui/data/error-notice.tsx'
import { withoutEmpty } from '../ui/browser/search-params.ts'
import { Segments } from '../ui/controls/segments.tsx'
import { SkeletonLines } from '../ui/data/skeleton.tsx'
import { usePageTitle } from '../ui/browser/use-page-title.ts'
import {
  filterParameters,
  readDetail,
  readMetric,
  readStepSet,
  type GraphSearch,
  type Metric,
  type StepSet,
} from './graph-search.ts'
import { GraphView } from './graph-view.tsx'
import { describeFailures } from './metric-labels.ts'
import { PickedSessions } from './picked-sessions.tsx'
import { VariantList } from './variant-list.tsx'
import { visibleGraph } from './visible-graph.ts'
import './graph-page.css'

/** Many sessions as one graph: what they did, in which order, and where they failed. */
export function GraphPage() {
  const search = useSearch({ from: '/graph' })
  const navigate = useNavigate({ from: '/graph' })
  usePageTitle('Decision graph')
  const parameters = useMemo(
    () => ({ ...filterParameters(search), of: readStepSet(search.of) }),
    [search.q, search.from, search.to, search.of],
  )
  const { data: graph, error, refetch } = useDecisionGraph(parameters)
  const change = (to: GraphSearch) =>
    void navigate({ search: (before) => withoutEmpty<GraphSearch>({ ...before, ...to }), replace: true })
  return (
    <div className="graph-page">
      <GraphHead search={search} graph={graph} onChange={change} />
      {error !== null ? (
        <ErrorNotice error={error} onRetry={() => void refetch()} />
      ) : graph === undefined ? (
        <div className="graph-loading">
          <SkeletonLines count={10} />
        </div>
      ) : graph.sessions === 0 ? (
        <NoSessions />
      ) : (
        <GraphBody search={search} graph={graph} onChange={change} />
      )}
    </div>
  )
}

type PartProps = { search: GraphSearch; onChange: (change: GraphSearch) => void }

function GraphHead({ search, graph, onChange }: PartProps & { graph: DecisionGraph | undefined }) {
  const { q, from, to } = search
  const listSearch = withoutEmpty<{ q?: string; from?: string; to?: string }>({ q, from, to })
  return (
    <header className="graph-head">
      <div className="graph-title">
        <h1>Decision graph</h1>
        <p className="dim">
          {graph !== undefined && (
            <>
              {graph.isPartial ? 'the newest ' : ''}
              {countOf(graph.sessions, 'session')}, {describeFailures(graph.failure)} ·{' '}
            </>
          )}
          <Link to="/sessions" search={listSearch}>
            {q === undefined ? 'all sessions' : visibleText(q)}
          </Link>
        </p>
      </div>
      <GraphTools search={search} onChange={onChange} />
    </header>
  )
}

function GraphTools({ search, onChange }: PartProps) {
  const detail = readDetail(search.detail)
  return (
    <div className="graph-tools">
      <Segments<StepSet>
        label="Steps"
        segments={[
          { value: 'actions', label: 'Actions' },
          { value: 'steps', label: 'All steps', title: 'Actions, model calls and agents' },
          { value: 'effects', label: 'Only effects', title: 'Only actions that write' },
        ]}
        value={readStepSet(search.of)}
        onChange={(of) => onChange({ of: of === 'actions' ? '' : of, pick: '' })}
      />
      <Segments<Metric>
        label="Metric"
        segments={[
          { value: 'count', label: 'Count' },
          { value: 'failure', label: 'Failures' },
          { value: 'cost', label: 'Cost' },
          { value: 'time', label: 'Time', title: 'Duration, 90th percentile' },
        ]}
        value={readMetric(search.metric)}
        onChange={(metric) => onChange({ metric: metric === 'count' ? '' : metric })}
      />
      <label className="graph-detail">
        Detail
        <input
          type="range"
          min={10}
          max={100}
          step={5}
          value={detail}
          aria-valuetext={`the most common paths of ${detail}% of the sessions`}
          onChange={(event) => onChange({ detail: event.target.value === '100' ? '' : event.target.value })}
        />
        <span className="dim">{detail === 100 ? 'all' : `${detail}%`}</span>
      </label>
    </div>
  )
}

function GraphBody({ search, graph, onChange }: PartProps & { graph: DecisionGraph }) {
  const [marked, setMarked] = useState<string>()
  const [hovered, setHovered] = useState<readonly string[]>()
  const detail = readDetail(search.detail)
  const visible = useMemo(() => visibleGraph(graph, detail), [graph, detail])
  const { pick } = search
  return (
    <div className="graph-body">
      <div className={hovered === undefined ? 'graph-main' : 'graph-main is-following'}>
        <GraphView
          graph={graph}
          visible={visible}
          metric={readMetric(search.metric)}
          pick={pick}
          followed={hovered}
          onPick={(next) => onChange({ pick: next === pick ? '' : next })}
        />
      </div>
      <aside className="graph-side">
        <PickedSessions
          graph={graph}
          search={search}
          marked={marked}
          onMark={setMarked}
          onClose={() => onChange({ pick: '' })}
        />
        <VariantList graph={graph} marked={marked} onMark={setMarked} onHover={setHovered} />
        <Legend />
      </aside>
    </div>
  )
}

function Legend() {
  return (
    <p className="graph-legend dim">
      Wider lines have more sessions; redder lines have more failures. “Fails more than usual” appears only if
      the difference is statistically significant (95%).
    </p>
  )
}

function NoSessions() {
  return (
    <div className="graph-none" role="status">
      <SearchX size={22} aria-hidden="true" />
      <h2>No matching sessions</h2>
      <p className="dim">
        The graph uses the filter of <Link to="/sessions">the sessions list</Link>.
      </p>
    </div>
  )
}
