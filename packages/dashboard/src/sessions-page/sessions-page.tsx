import { Link } from '@tanstack/react-router'
import { lanes, addTerm, removeTerm } from '@playhead/model'
import { GitFork, ListChecks, Waypoints } from 'lucide-react'
import { apiPath, isUnreachable } from '../api/call-api.ts'
import { useSessionList, useSomeSessions } from '../api/sessions.ts'
import { browserZone, useStats } from '../api/stats.ts'
import { Button } from '../ui/controls/button.tsx'
import { ErrorNotice } from '../ui/data/error-notice.tsx'
import { TimeRangePicker } from '../session-filter/time-range-picker.tsx'
import { timeRange } from '../session-filter/time-range.ts'
import { usePageTitle } from '../ui/browser/use-page-title.ts'
import { FilterBox } from './filter-box.tsx'
import { FirstSession } from './first-session.tsx'
import { SessionCharts } from './session-charts.tsx'
import { SessionList } from './session-list.tsx'
import { writeSort } from './sessions-search.ts'
import { useSessionSearch, type SessionSearch } from './use-session-search.ts'
import { ViewsMenu } from './views-menu.tsx'
import './sessions-page.css'

const REFRESH_FIGURES_MS = 60_000

/** The project's sessions, with a filter and charts over time. */
export function SessionsPage() {
  const search = useSessionSearch()
  const { q, from, to, change } = search
  usePageTitle(q === '' ? 'Sessions' : `${q} · Sessions`)
  const list = useSessionList(search.listParameters)
  const stats = useStats(
    { ...search.filterParameters, interval: 'auto', zone: browserZone(), scoreName: search.scoreNames[0] },
    // Rows first: statistics over a million sessions would slow them down.
    { refreshMs: REFRESH_FIGURES_MS, enabled: !list.isPending && !list.isPlaceholderData },
  )
  const isUnfiltered = q === '' && from === undefined && to === undefined
  const isEmpty = list.data?.pages[0]?.sessions.length === 0 && !list.isPlaceholderData
  return (
    <SessionList search={search} list={list} stats={stats.data}>
      {isEmpty && isUnfiltered ? (
        <FirstSession />
      ) : (
        <>
          <h1 className="visually-hidden">Sessions</h1>
          <div className="sessions-above">
            {stats.error !== null && !isUnreachable(stats.error) && (
              <ErrorNotice error={stats.error} onRetry={() => void stats.refetch()} />
            )}
            <SessionCharts
              stats={stats.data}
              scoreName={search.scoreNames[0]}
              range={timeRange(from, to)}
              onZoom={change}
              onState={(state) => change({ q: addTerm(q, `status:${state}`) })}
            />
          </div>
          <SessionsBar search={search} isReady={stats.data !== undefined} />
        </>
      )}
    </SessionList>
  )
}

function SessionsBar({ search, isReady }: { search: SessionSearch; isReady: boolean }) {
  const { q, from, to, filter, sort, change } = search
  const sortText = writeSort(sort)
  const problems = filter.terms.flatMap(({ problem }) => problem ?? [])
  return (
    <div className="sessions-bar">
      <div className="sessions-tools">
        <FilterBox filter={q} onChange={(next) => change({ q: next })} />
        <ViewsMenu
          current={{
            ...(q !== '' && { q }),
            ...(from && { from }),
            ...(to && { to }),
            ...(sortText && { sort: sortText }),
          }}
          onChoose={(view) =>
            change({ q: undefined, from: undefined, to: undefined, sort: undefined, ...view })
          }
        />
        <RerunToggle search={search} isReady={isReady} />
        <ReviewLink search={search} />
        <Link
          to="/graph"
          search={{ ...(q !== '' && { q }), ...timeRange(from, to) }}
          className="button button-plain"
          title="Show these sessions as a decision graph"
        >
          <Waypoints size={14} aria-hidden="true" />
          Graph
        </Link>
        <TimeRangePicker
          range={timeRange(from, to)}
          onChange={(range) => change({ from: undefined, to: undefined, ...range })}
        />
      </div>
      {problems.length > 0 && (
        <div className="filter-problems" role="alert">
          {problems.map((problem) => (
            <p key={problem}>{problem}</p>
          ))}
        </div>
      )}
    </div>
  )
}

/** Opens the first session of the list; J and K go through the others. */
function ReviewLink({ search }: { search: SessionSearch }) {
  const list = useSessionList(search.listParameters)
  const first = list.data?.pages[0]?.sessions[0]
  if (first === undefined) return null
  return (
    <Link
      to="/sessions/$sessionId"
      params={{ sessionId: first.id }}
      search={{ review: apiPath('', search.listParameters).slice(1) || 'sort=time' }}
      preload={false}
      className="button button-plain"
      title="Go through these sessions one by one and give each a verdict"
    >
      <ListChecks size={14} aria-hidden="true" />
      Review
    </Link>
  )
}

/** Shows or hides re-runs, if there are any. */
function RerunToggle({ search, isReady }: { search: SessionSearch; isReady: boolean }) {
  const { q, filter, hasReruns, change } = search
  const { data: [some] = [] } = useSomeSessions({ lane: lanes, limit: 1 }, { enabled: isReady })
  if (some === undefined && !hasReruns) return null
  const shown = filter.terms.findIndex(({ text }) => text === SHOW_RERUNS)
  return (
    <Button
      aria-pressed={hasReruns}
      // Other terms ask for re-runs too, and mean more than that.
      disabled={hasReruns && shown < 0}
      title={hasReruns ? 'Hide re-runs' : 'Re-runs are hidden, and count in no statistics'}
      onClick={() => change({ q: shown < 0 ? addTerm(q, SHOW_RERUNS) : removeTerm(q, shown) })}
    >
      <GitFork size={14} aria-hidden="true" />
      Re-runs
    </Button>
  )
}

const SHOW_RERUNS = 'reruns:include'
