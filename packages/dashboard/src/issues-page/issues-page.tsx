import { useNavigate, useSearch } from '@tanstack/react-router'
import { CircleCheck, SearchX } from 'lucide-react'
import { useRef, useState } from 'react'
import { countOf } from '@playhead/model'
import { useIssues, useOmittedIssues, type Issue } from '../api/issues.ts'
import { withoutEmpty } from '../ui/browser/search-params.ts'
import { usePageTitle } from '../ui/browser/use-page-title.ts'
import { Button, KeyCap } from '../ui/controls/button.tsx'
import { SearchInput } from '../ui/controls/search-input.tsx'
import { Segments } from '../ui/controls/segments.tsx'
import { ErrorNotice, NotLoaded } from '../ui/data/error-notice.tsx'
import { IssueDialog } from './issue-dialog.tsx'
import { keyHelp, useIssueKeys, type IssueTool } from './issue-keys.ts'
import { IssueRow } from './issue-row.tsx'
import type { IssuesSearch } from './issues-search.ts'
import './issues-page.css'

const stateNames = ['open', 'resolved', 'ignored', 'all'] as const
type StateName = (typeof stateNames)[number]

/** Sessions with the same failure, counted as one issue each. */
export function IssuesPage() {
  const search = useSearch({ from: '/issues' })
  const navigate = useNavigate({ from: '/issues' })
  usePageTitle('Issues')
  const issues = useIssues()
  const state = stateNames.find((name) => name === search.state) ?? 'open'
  const change = (to: Partial<Record<keyof IssuesSearch, string>>) =>
    void navigate({ search: (before) => withoutEmpty<IssuesSearch>({ ...before, ...to }), replace: true })
  const shown = (issues.data ?? []).filter((issue) => isShown(issue, state, search.search ?? ''))
  return (
    <div className="issues-page">
      <header className="issues-head">
        <h1>Issues</h1>
        <div className="issues-tools">
          <SearchInput
            label="Search issues"
            value={search.search ?? ''}
            onChange={(text) => change({ search: text })}
          />
          <Segments
            label="State"
            segments={stateNames.map((name) => ({ value: name, label: labelOf(name, issues.data) }))}
            value={state}
            onChange={(next) => change({ state: next === 'open' ? '' : next })}
          />
        </div>
      </header>
      {issues.data === undefined ? (
        <NotLoaded query={issues} lines={10} />
      ) : shown.length > 0 ? (
        <IssueTable issues={shown} search={search} />
      ) : issues.data.length > 0 ? (
        <NothingMatches state={state} onClear={() => void navigate({ search: { state: 'all' } })} />
      ) : (
        <NoIssues />
      )}
    </div>
  )
}

function isShown({ state, title, kind, versions }: Issue, wanted: StateName, text: string): boolean {
  const isWanted = wanted === 'all' || state === wanted || (wanted === 'open' && state === 'reopened')
  const words = [title, kind, ...versions].join(' ').toLowerCase()
  return isWanted && words.includes(text.trim().toLowerCase())
}

function labelOf(name: StateName, issues: readonly Issue[] | undefined): string {
  const word = name[0]!.toUpperCase() + name.slice(1)
  if (issues === undefined) return word
  return `${word} ${issues.filter((issue) => isShown(issue, name, '')).length}`
}

function IssueTable({ issues, search }: { issues: readonly Issue[]; search: IssuesSearch }) {
  const table = useRef<HTMLTableElement>(null)
  const [used, setUsed] = useState<{ tool: IssueTool; issueId: string }>()
  const onTool = (tool: IssueTool, issueId: string) => setUsed({ tool, issueId })
  const { error } = useIssueKeys({ issues, table: () => table.current, onTool })
  return (
    <>
      {error !== null && <ErrorNotice error={error} />}
      <table ref={table} className="issue-table">
        <thead>
          <tr>
            <th>Issue</th>
            <th className="issue-activity">Last 14 days</th>
            <th className="issue-count">Sessions</th>
            <th className="issue-count issue-users">Users</th>
            <th className="issue-versions">Versions</th>
            <th className="issue-first">First seen</th>
            <th className="issue-last">Last seen</th>
          </tr>
        </thead>
        <tbody>
          {issues.map((issue) => (
            <IssueRow
              key={issue.id}
              issue={issue}
              isOpen={search.issue === issue.id}
              search={search}
              onTool={onTool}
            />
          ))}
        </tbody>
      </table>
      <OmittedIssues />
      <p className="issue-keys dim">
        {keyHelp.map(([keys, what]) => (
          <span key={keys}>
            {keys.split(' ').map((key) => (
              <KeyCap key={key}>{key}</KeyCap>
            ))}{' '}
            {what}
          </span>
        ))}
      </p>
      {used !== undefined && <IssueDialog {...used} onClose={() => setUsed(undefined)} />}
    </>
  )
}

function OmittedIssues() {
  const omitted = useOmittedIssues()
  if (omitted === 0) return null
  return (
    <p className="dim" role="status">
      {countOf(omitted, 'more issue')} of any state, seen longer ago, can't be listed.
    </p>
  )
}

function NothingMatches({ state, onClear }: { state: StateName; onClear: () => void }) {
  return (
    <div className="issues-none" role="status">
      <SearchX size={22} aria-hidden="true" />
      <h2>{state === 'open' ? 'No open issues match' : 'No matching issues'}</h2>
      <Button onClick={onClear}>Show all issues</Button>
    </div>
  )
}

function NoIssues() {
  return (
    <div className="issues-none" role="status">
      <CircleCheck size={22} aria-hidden="true" />
      <h2>No issues</h2>
      <p className="dim">
        When a session goes wrong, Playhead names the suspect, and counts sessions with the same failure as
        one issue here: how often, since when, and in which versions.
      </p>
    </div>
  )
}
