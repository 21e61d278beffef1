import { Link } from '@tanstack/react-router'
import { countOf, formatCount, shortSessionId, visibleText } from '@playhead/model'
import { useIssue, type IssueDetail } from '../api/issues.ts'
import { FlaskConical, Repeat, type LucideIcon } from 'lucide-react'
import { Button, KeyCap } from '../ui/controls/button.tsx'
import { ShareBar } from '../ui/charts/share-bar.tsx'
import { Age } from '../ui/data/age.tsx'
import { NotLoaded } from '../ui/data/error-notice.tsx'
import { IssueActions } from './issue-actions.tsx'
import { toolNames } from './issue-dialog.tsx'
import type { IssueTool } from './issue-keys.ts'
import './issue-details.css'

/** An issue by version, with its suspects, examples and actions. */
export function IssueDetails({ id, onTool }: { id: string; onTool: (tool: IssueTool) => void }) {
  const query = useIssue(id)
  const issue = query.data
  if (issue === undefined) return <NotLoaded query={query} lines={4} />
  return (
    <div className="issue-details">
      <p className="issue-sentence">{visibleText(issue.example.sentence || issue.title)}</p>
      <Examples issue={issue} />
      <Tools onTool={onTool} />
      <div className="issue-columns">
        <Versions issue={issue} />
        <Suspects issue={issue} />
      </div>
      <IssueActions key={issue.state} issue={issue} />
    </div>
  )
}

function Examples({ issue }: { issue: IssueDetail }) {
  const { exampleSessionId, passingSessionId, example, sessions } = issue
  const step = example.stepId === '' ? {} : { step: example.stepId }
  return (
    <p className="issue-links">
      <Link to="/sessions/$sessionId" params={{ sessionId: exampleSessionId }} search={step}>
        Latest session {shortSessionId(exampleSessionId)}
      </Link>
      <Link to="/sessions" search={{ q: `issue:${issue.id}` }}>
        All {countOf(sessions, 'session')}
      </Link>
      <Link to="/graph" search={{ q: `issue:${issue.id}`, metric: 'failure' }}>
        Decision graph
      </Link>
      {passingSessionId !== null && (
        <>
          <Link to="/sessions/$sessionId" params={{ sessionId: passingSessionId }}>
            Passing session {shortSessionId(passingSessionId)}
          </Link>
          <Link to="/compare" search={{ a: passingSessionId, b: exampleSessionId }}>
            Compare with the passing session
          </Link>
        </>
      )}
    </p>
  )
}

const tools: readonly { tool: IssueTool; Icon: LucideIcon; keyName: string; hint: string }[] = [
  {
    tool: 'test',
    Icon: FlaskConical,
    keyName: 'T',
    hint: 'The latest session as a test that runs your agent, answered from a cassette',
  },
  {
    tool: 'verify',
    Icon: Repeat,
    keyName: 'V',
    hint: 'Run the latest session again from the suspect, several times, with and without a change',
  },
]

function Tools({ onTool }: { onTool: (tool: IssueTool) => void }) {
  return (
    <p className="issue-tools">
      {tools.map(({ tool, Icon, keyName, hint }) => (
        <Button key={tool} title={hint} onClick={() => onTool(tool)}>
          <Icon size={14} aria-hidden="true" />
          {toolNames[tool]}
          <KeyCap>{keyName}</KeyCap>
        </Button>
      ))}
    </p>
  )
}

function Versions({ issue: { byVersion, sessions } }: { issue: IssueDetail }) {
  return (
    <section>
      <h2>Versions</h2>
      <table>
        <tbody>
          {byVersion.toReversed().map(({ version, sessions: count, lastSeenAt }) => (
            <tr key={version}>
              <th scope="row">
                {version === '' ? <span className="dim">Unknown</span> : visibleText(version)}
              </th>
              <td>
                <ShareBar share={count / sessions} color="var(--bad)" />
              </td>
              <td>{countOf(count, 'session')}</td>
              <td className="dim">
                <Age time={lastSeenAt} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

function Suspects({ issue: { suspects, sessions } }: { issue: IssueDetail }) {
  if (suspects.length === 0) return null
  return (
    <section>
      <h2>Suspects over all sessions</h2>
      <table>
        <tbody>
          {suspects.map(({ name, kind, sessions: count, asFirst }) => (
            <tr key={`${name} ${kind}`}>
              <th scope="row">{visibleText(name)}</th>
              <td className="dim">{kind}</td>
              <td>
                <ShareBar share={Math.min(1, count / sessions)} color="var(--warn)" />
              </td>
              <td title={`First suspect in ${formatCount(asFirst)}`}>{countOf(count, 'session')}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
