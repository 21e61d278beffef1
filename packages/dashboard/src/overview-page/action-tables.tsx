import { formatCount, formatDuration, visibleText, type StatsGroup, writeTerm } from '@playhead/model'
import { useStats } from '../api/stats.ts'
import { formatShare, ShareBar } from '../ui/charts/share-bar.tsx'
import type { TimeRange } from '../session-filter/time-range.ts'
import { OverviewPanel, OverviewTable, SessionsCell } from './overview-panel.tsx'

const SHOWN = 7
const ACTIONS_FETCHED = 500

/** The slowest actions, and those that fail most often. */
export function ActionTables({ range }: { range: TimeRange }) {
  const query = useStats({ ...range, groupBy: 'tool', limit: ACTIONS_FETCHED })
  return (
    <>
      <OverviewPanel
        title="Slowest actions"
        query={query}
        isEmpty={({ groups }) => slowest(groups).length === 0}
        empty="No actions in this period."
      >
        {({ groups }) => <SlowTable groups={slowest(groups)} range={range} />}
      </OverviewPanel>
      <OverviewPanel
        title="Actions that fail most"
        query={query}
        isEmpty={({ groups }) => failing(groups).length === 0}
        empty="No failed actions in this period."
      >
        {({ groups }) => <FailTable groups={failing(groups)} range={range} />}
      </OverviewPanel>
    </>
  )
}

function slowest(groups: readonly StatsGroup[]): StatsGroup[] {
  return groups
    .filter(({ durationMs }) => durationMs.p95 !== null)
    .sort((left, right) => right.durationMs.p95! - left.durationMs.p95!)
    .slice(0, SHOWN)
}

function failing(groups: readonly StatsGroup[]): StatsGroup[] {
  return groups
    .filter(({ failedCalls = 0 }) => failedCalls > 0)
    .sort(
      (left, right) => shareOf(right) - shareOf(left) || (right.failedCalls ?? 0) - (left.failedCalls ?? 0),
    )
    .slice(0, SHOWN)
}

function shareOf({ failedCalls = 0, calls = 0 }: StatsGroup): number {
  return calls === 0 ? 0 : failedCalls / calls
}

type TableProps = { groups: readonly StatsGroup[]; range: TimeRange }

function SlowTable({ groups, range }: TableProps) {
  const highest = groups[0]?.durationMs.p95 ?? 0
  return (
    <OverviewTable of="Action" hasBars narrow={['p95', 'p50', 'Calls']}>
      {groups.map((group) => {
        const list = { ...range, q: writeTerm('tool', group.key) }
        return (
          <tr key={group.key}>
            <ActionName group={group} range={range} />
            <td className="bar">
              <ShareBar share={group.durationMs.p95! / highest} color="var(--kind-llm)" />
            </td>
            <SessionsCell search={{ ...list, sort: 'duration' }}>
              {formatDuration(group.durationMs.p95!)}
            </SessionsCell>
            <td>{group.durationMs.p50 === null ? '–' : formatDuration(group.durationMs.p50)}</td>
            <SessionsCell search={list}>{formatCount(group.calls ?? 0)}</SessionsCell>
          </tr>
        )
      })}
    </OverviewTable>
  )
}

function FailTable({ groups, range }: TableProps) {
  return (
    <OverviewTable of="Action" hasBars narrow={['Failed']} wide="Calls">
      {groups.map((group) => {
        const list = { ...range, q: writeTerm('failedTool', group.key) }
        return (
          <tr key={group.key}>
            <ActionName group={group} range={range} />
            <td className="bar">
              <ShareBar share={shareOf(group)} color="var(--bad)" />
            </td>
            <SessionsCell search={list} className="is-bad">
              {formatShare(shareOf(group))}
            </SessionsCell>
            <SessionsCell search={list}>
              {formatCount(group.failedCalls ?? 0)} of {formatCount(group.calls ?? 0)}
            </SessionsCell>
          </tr>
        )
      })}
    </OverviewTable>
  )
}

function ActionName({ group, range }: { group: StatsGroup; range: TimeRange }) {
  return (
    <SessionsCell title={group.key} search={{ ...range, q: writeTerm('tool', group.key) }}>
      {visibleText(group.key)}
    </SessionsCell>
  )
}
