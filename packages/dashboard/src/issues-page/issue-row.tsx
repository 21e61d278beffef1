import { Link } from '@tanstack/react-router'
import { countOf, formatCount, visibleText } from '@playhead/model'
import { ChevronDown, ChevronRight } from 'lucide-react'
import type { Issue } from '../api/issues.ts'
import { Sparkline } from '../ui/charts/sparkline.tsx'
import { Age } from '../ui/data/age.tsx'
import { IssueDetails } from './issue-details.tsx'
import type { IssueTool } from './issue-keys.ts'
import type { IssuesSearch } from './issues-search.ts'

const SHOWN_VERSIONS = 2

type IssueRowProps = {
  issue: Issue
  isOpen: boolean
  search: IssuesSearch
  onTool: (tool: IssueTool, issueId: string) => void
}

/** One issue; opens to show details and actions. */
export function IssueRow({ issue, isOpen, search, onTool }: IssueRowProps) {
  const Chevron = isOpen ? ChevronDown : ChevronRight
  const { issue: _, ...closed } = search
  const { versions } = issue
  const activity = `Sessions on each of the last 14 days: ${issue.activity.join(', ')}`
  return (
    <>
      <tr className="issue-row" data-open={isOpen}>
        <td className="issue-name">
          <Link
            to="/issues"
            search={isOpen ? closed : { ...closed, issue: issue.id }}
            className="issue-title"
            aria-expanded={isOpen}
            resetScroll={false}
          >
            <Chevron size={14} aria-hidden="true" />
            <span>{visibleText(issue.title)}</span>
          </Link>
          <span className="issue-facts">
            <StateMark issue={issue} />
            <span className="issue-kind">{issue.kind}</span>
            {issue.note !== undefined && <span className="issue-note">{visibleText(issue.note)}</span>}
          </span>
        </td>
        <td className="issue-activity">
          <Sparkline values={issue.activity} label={activity} color="var(--bad)" />
        </td>
        <td className="issue-count">
          {formatCount(issue.sessions)}
          <span className="issue-unit"> {issue.sessions === 1 ? 'session' : 'sessions'}</span>
        </td>
        <td className="issue-count issue-users">{formatCount(issue.users)}</td>
        <td className="issue-versions" title={versions.map(visibleText).join(', ')}>
          {versions.length === 0 ? <span className="dim">–</span> : describeVersions(versions)}
        </td>
        <td className="issue-first">
          <Age time={issue.firstSeenAt} />
        </td>
        <td className="issue-last">
          <Age time={issue.lastSeenAt} />
        </td>
      </tr>
      {isOpen && (
        <tr className="issue-opened">
          <td colSpan={7}>
            <IssueDetails id={issue.id} onTool={(tool) => onTool(tool, issue.id)} />
          </td>
        </tr>
      )}
    </>
  )
}

function describeVersions(versions: readonly string[]): string {
  const newest = versions.slice(-SHOWN_VERSIONS).map(visibleText).join(', ')
  return versions.length > SHOWN_VERSIONS ? `${newest} +${versions.length - SHOWN_VERSIONS}` : newest
}

/** What was decided about the issue; nothing for one that is open. */
function StateMark({ issue }: { issue: Issue }) {
  const { state, resolvedVersion, ignoredUntil } = issue
  if (state === 'open') return null
  const text =
    state === 'reopened'
      ? 'Reopened'
      : state === 'resolved'
        ? `Resolved${resolvedVersion === undefined ? '' : ` in ${visibleText(resolvedVersion)}`}`
        : `Ignored${ignoredUntil === undefined ? '' : ` until ${countOf(ignoredUntil, 'session')}`}`
  return <span className={`issue-state is-${state}`}>{text}</span>
}
