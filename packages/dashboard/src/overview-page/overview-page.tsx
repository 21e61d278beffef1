import { useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo } from 'react'
import { browserZone, useStats } from '../api/stats.ts'
import { ErrorNotice } from '../ui/data/error-notice.tsx'
import { TimeRangePicker } from '../session-filter/time-range-picker.tsx'
import { previousRange, timeRange } from '../session-filter/time-range.ts'
import { useNow } from '../ui/browser/use-now.ts'
import { usePageTitle } from '../ui/browser/use-page-title.ts'
import { ActionTables } from './action-tables.tsx'
import { FlakyTests } from './flaky-tests.tsx'
import { GroupTable } from './group-table.tsx'
import { HeadlineFigures } from './headline-figures.tsx'
import { ModelCosts } from './model-costs.tsx'
import { rangeOfSearch, searchOfRange } from './overview-search.ts'
import { TopErrors } from './top-errors.tsx'
import './overview-page.css'

const MINUTE_MS = 60_000

/** Failures, costs and durations at a glance. Every number links to the sessions behind it. */
export function OverviewPage() {
  const { from, to } = useSearch({ from: '/overview' })
  const navigate = useNavigate({ from: '/overview' })
  usePageTitle('Overview')
  const range = useMemo(() => rangeOfSearch(timeRange(from, to)), [from, to])
  // Rounded to the minute: otherwise the previous period would be refetched with every tick.
  const minute = Math.floor(useNow() / MINUTE_MS) * MINUTE_MS
  const earlier = useMemo(() => previousRange(range, minute), [range, minute])
  const now = useStats({ ...range, interval: 'auto', zone: browserZone() }, { refreshMs: MINUTE_MS })
  const before = useStats({ ...earlier }, { enabled: earlier !== undefined })
  return (
    <div className="overview-page">
      <header className="overview-head">
        <h1>Overview</h1>
        <TimeRangePicker range={range} onChange={(next) => void navigate({ search: searchOfRange(next) })} />
      </header>
      {now.error !== null && now.data === undefined ? (
        <ErrorNotice error={now.error} onRetry={() => void now.refetch()} />
      ) : (
        <HeadlineFigures
          now={now.data}
          before={earlier === undefined ? null : before.data}
          range={range}
          nowMs={minute}
        />
      )}
      <div className="overview-panels">
        <TopErrors range={range} />
        <ModelCosts range={range} />
        <FlakyTests range={range} />
        <ActionTables range={range} />
        <GroupTable
          title="By agent"
          column="Agent"
          by="agent"
          empty="No named agents in this period."
          range={range}
        />
        <GroupTable title="By tag" column="Tag" by="tag" empty="No tags in this period." range={range} />
      </div>
    </div>
  )
}
