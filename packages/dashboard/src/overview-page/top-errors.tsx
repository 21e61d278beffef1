import { Link } from '@tanstack/react-router'
import { formatCount, shortSessionId, visibleText, type StatsGroup, writeTerm } from '@playhead/model'
import { useStats } from '../api/stats.ts'
import type { TimeRange } from '../session-filter/time-range.ts'
import { OverviewPanel } from './overview-panel.tsx'
import './top-errors.css'

const SHOWN = 8

/** Errors that differ only in numbers and names are grouped; those in most sessions come first. */
export function TopErrors({ range }: { range: TimeRange }) {
  const query = useStats({ ...range, groupBy: 'error', limit: SHOWN })
  return (
    <OverviewPanel
      title="Top errors"
      note="same error, different wording: one row"
      isWide
      query={query}
      isEmpty={({ groups }) => groups.length === 0}
      empty="No errors in this period."
    >
      {({ groups }) => (
        <table className="overview-table top-errors">
          <thead>
            <tr>
              <th>Error (latest wording)</th>
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

/** Splits "ValueError: it is null" into type and message. */
function splitMessage(text: string): [type: string, message: string] {
  const colon = text.indexOf(': ')
  if (colon < 0) return ['', text]
  const [type, message] = [text.slice(0, colon), text.slice(colon + 2)]
  // Many messages repeat the type.
  return [type, message.startsWith(`${type}: `) ? message.slice(type.length + 2) : message]
}
