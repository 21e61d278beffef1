import { Link } from '@tanstack/react-router'
import { formatCount, shortSessionId, visibleText, type StatsGroup } from '@playhead/model'
import { useStats } from '../api/stats.ts'
import { writeTerm } from '../session-filter/parse-filter.ts'
import type { TimeRange } from '../session-filter/time-range.ts'
import { OverviewPanel } from './overview-panel.tsx'
import './top-errors.css'

const SHOWN = 8

/** Errors that are the same but for numbers and names, most sessions first. */
export function TopErrors({ range }: { range: TimeRange }) {
  const query = useStats({ ...range, groupBy: 'error', limit: SHOWN })
  return (
    <OverviewPanel
      title="Top errors"
      note="the same error in other words is one line"
      isWide
      query={query}
      isEmpty={({ groups }) => groups.length === 0}
      empty="No errors in this time."
    >
      {({ groups }) => (
        <table className="overview-table top-errors">
          <thead>
            <tr>
              <th>Error, as it was said last</th>
              <th className="narrow">Errors</th>
              <th className="narrow">Sessions</th>
              <th className="last">Last session</th>
            </tr>
          </thead>
          <tbody>
            {groups.map((group) => (
              <ErrorLine key={group.key} group={group} range={range} />
            ))}
          </tbody>
        </table>
      )}
    </OverviewPanel>
  )
}

function ErrorLine({ group, range }: { group: StatsGroup; range: TimeRange }) {
  const { example, calls = 0, total } = group
  const [type, message] = splitMessage(example?.message ?? group.key)
  const list = { ...range, q: writeTerm('error', group.key) }
  return (
    <tr>
      <td title={example?.message}>
        <Link to="/sessions" search={list}>
          {type !== '' && <span className="error-type">{visibleText(type)}</span>}{' '}
          <span className="error-text">{visibleText(message)}</span>
          {example?.action !== undefined && (
            <span className="error-where"> in {visibleText(example.action)}</span>
          )}
        </Link>
      </td>
      <td>{formatCount(calls)}</td>
      <td>
        <Link to="/sessions" search={list}>
          {formatCount(total)}
        </Link>
      </td>
      <td className="last">
        {example !== undefined && (
          <Link to="/sessions/$sessionId" params={{ sessionId: example.sessionId }} className="mono">
            {shortSessionId(example.sessionId)}
          </Link>
        )}
      </td>
    </tr>
  )
}

/** "ValueError: it is null" in its two parts. */
function splitMessage(text: string): [type: string, message: string] {
  const colon = text.indexOf(': ')
  if (colon < 0) return ['', text]
  const [type, message] = [text.slice(0, colon), text.slice(colon + 2)]
  // Many messages begin with the type again.
  return [type, message.startsWith(`${type}: `) ? message.slice(type.length + 2) : message]
}
