import { Link } from '@tanstack/react-router'
import { formatCount, formatDuration, visibleText, type StatsGroup } from '@playhead/model'
import { useStats } from '../api/stats.ts'
import { Cost, Unknown } from '../session-facts/figures.tsx'
import { writeTerm } from '../session-filter/parse-filter.ts'
import { formatShare } from '../ui/format-share.ts'
import type { TimeRange } from '../ui/time-range.ts'
import { OverviewPanel } from './overview-panel.tsx'

const SHOWN = 8

type GroupTableProps = { title: string; column: string; by: 'agent' | 'tag'; empty: string; range: TimeRange }

/** Sessions by what they have in common. */
export function GroupTable({ title, column, by, empty, range }: GroupTableProps) {
  const query = useStats({ ...range, groupBy: by, limit: SHOWN })
  return (
    <OverviewPanel title={title} query={query} isEmpty={({ groups }) => groups.length === 0} empty={empty}>
      {({ groups }) => (
        <table className="overview-table">
          <thead>
            <tr>
              <th>{column}</th>
              <th className="narrow">Sessions</th>
              <th className="narrow">Failed</th>
              <th className="narrow">Cost</th>
              <th className="narrow">p95</th>
            </tr>
          </thead>
          <tbody>
            {groups.map((group) => (
              <GroupLine key={group.key} group={group} term={writeTerm(by, group.key)} range={range} />
            ))}
          </tbody>
        </table>
      )}
    </OverviewPanel>
  )
}

function GroupLine({ group, term, range }: { group: StatsGroup; term: string; range: TimeRange }) {
  const list = { ...range, q: term }
  const { failureRate, durationMs } = group
  return (
    <tr>
      <td title={group.key}>
        <Link to="/sessions" search={list}>
          {visibleText(group.key)}
        </Link>
      </td>
      <td>
        <Link to="/sessions" search={list}>
          {formatCount(group.total)}
        </Link>
      </td>
      <td className={group.fail > 0 ? 'is-bad' : ''}>
        {failureRate === null ? (
          <Unknown why="none has ended" />
        ) : (
          <Link to="/sessions" search={{ ...range, q: `${term} status:fail` }} title={`${group.fail} failed`}>
            {formatShare(failureRate)}
          </Link>
        )}
      </td>
      <td>
        <Link to="/sessions" search={{ ...list, sort: 'cost' }}>
          <Cost cost={group.cost} />
        </Link>
      </td>
      <td>
        {durationMs.p95 === null ? (
          <Unknown why="none has ended" />
        ) : (
          <Link to="/sessions" search={{ ...list, sort: 'duration' }}>
            {formatDuration(durationMs.p95)}
          </Link>
        )}
      </td>
    </tr>
  )
}
