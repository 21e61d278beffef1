import { Link } from '@tanstack/react-router'
import { totalTokens, formatCount, visibleText, type StatsGroup, writeTerm } from '@playhead/model'
import { useStats } from '../api/stats.ts'
import { formatShortCost, Unknown } from '../session-facts/figures.tsx'
import { ShareBar } from '../ui/charts/share-bar.tsx'
import type { TimeRange } from '../session-filter/time-range.ts'
import { OverviewPanel, OverviewTable, SessionsCell } from './overview-panel.tsx'

const SHOWN = 8

/** The cost of each model. Models without a price are listed, never counted as free. */
export function ModelCosts({ range }: { range: TimeRange }) {
  const query = useStats({ ...range, groupBy: 'model', limit: 200 })
  return (
    <OverviewPanel
      title="Cost by model"
      note={<Unpriced models={query.data?.unpricedModels ?? []} />}
      query={query}
      isEmpty={({ groups }) => groups.length === 0}
      empty="No model calls in this period."
    >
      {({ groups, unpricedModels }) => {
        const sorted = groups
          .toSorted((left, right) => (right.cost ?? -1) - (left.cost ?? -1))
          .slice(0, SHOWN)
        const highest = sorted[0]?.cost ?? 0
        return (
          <OverviewTable of="Model" hasBars narrow={['Cost', 'Tokens', 'Calls']}>
            {sorted.map((group) => (
              <ModelLine
                key={group.key}
                group={group}
                highest={highest}
                isUnpriced={unpricedModels.includes(group.key)}
                range={range}
              />
            ))}
          </OverviewTable>
        )
      }}
    </OverviewPanel>
  )
}

type ModelLineProps = { group: StatsGroup; highest: number; isUnpriced: boolean; range: TimeRange }

function ModelLine({ group, highest, isUnpriced, range }: ModelLineProps) {
  const tokens = totalTokens(group.usage)
  const list = { ...range, q: writeTerm('model', group.key) }
  return (
    <tr>
      <SessionsCell title={group.key} search={list}>
        {visibleText(group.key)}
      </SessionsCell>
      <td className="bar">
        {group.cost !== null && (
          <ShareBar share={highest === 0 ? 0 : group.cost / highest} color="var(--kind-action)" />
        )}
      </td>
      <td>
        {group.cost === null ? (
          isUnpriced ? (
            <span className="dim">no price</span>
          ) : (
            <Unknown why="No tokens reported" />
          )
        ) : (
          <Link to="/sessions" search={{ ...list, sort: 'cost' }} title={`$${group.cost}`}>
            {formatShortCost(group.cost)}
          </Link>
        )}
      </td>
      <td>{tokens === undefined ? <Unknown why="Tokens not reported" /> : formatCount(tokens)}</td>
      <SessionsCell search={list}>{formatCount(group.calls ?? 0)}</SessionsCell>
    </tr>
  )
}

function Unpriced({ models }: { models: readonly string[] }) {
  if (models.length === 0) return null
  return (
    <Link to="/settings/$section" params={{ section: 'prices' }} title={models.join(', ')}>
      {models.length} {models.length === 1 ? 'model has' : 'models have'} no price
    </Link>
  )
}
