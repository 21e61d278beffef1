import { Link } from '@tanstack/react-router'
import { formatCount, formatDuration, visibleText, type StatsGroup, writeTerm } from '@playhead/model'
import { useStats } from '../api/stats.ts'
import { Cost, Unknown } from '../session-facts/figures.tsx'
import { formatShare } from '../ui/charts/share-bar.tsx'
import type { TimeRange } from '../session-filter/time-range.ts'
import { OverviewPanel, OverviewTable, SessionsCell } from './overview-panel.tsx'

const SHOWN = 8

type GroupTableProps = { title: string; column: string; by: 'agent' | 'tag'; empty: string; range: TimeRange }

/** Sessions grouped by agent or by tag. */
export function GroupTable({ title, column, by, empty, range }: GroupTableProps) {
  const query = useStats({ ...range, groupBy: by, limit: SHOWN })
  return (
    <OverviewPanel title={title} query={query} isEmpty={({ groups }) => groups.length === 0} empty={empty}>
      {({ groups }) => (
        <OverviewTable of={column} narrow={['Sessions', 'Failed', 'Cost', 'p95']}>
          {groups.map((group) => (
            <GroupLine key={group.key} group={group} term={writeTerm(by, group.key)} range={range} />
          ))}
        </OverviewTable>
      )}
    </OverviewPanel>
  )
}

function GroupLine({ group, term, range }: { group: StatsGroup; term: string; range: TimeRange }) {
  const list = { ...range, q: term }
  const { failureRate, durationMs } = group
  return (
    <tr>
      <SessionsCell title={group.key} search={list}>
        {visibleText(group.key)}
      </SessionsCell>
      <SessionsCell search={list}>{formatCount(group.total)}</SessionsCell>
      <td className={group.fail > 0 ? 'is-bad' : ''}>
        {failureRate === null ? (
          <Unknown why="No session has ended" />
        ) : (
          <Link to="/sessions" search={{ ...range, q: `${term} status:fail` }} title={`${group.fail} failed`}>
            {formatShare(failureRate)}
          </Link>
        )}
      </td>
      <SessionsCell search={{ ...list, sort: 'cost' }}>
        <Cost cost={group.cost} />
      </SessionsCell>
      <td>
        {durationMs.p95 === null ? (
          <Unknown why="No session has ended" />
        ) : (
          <Link to="/sessions" search={{ ...list, sort: 'duration' }}>
            {formatDuration(durationMs.p95)}
          </Link>
        )}
      </td>
    </tr>
  )
}
