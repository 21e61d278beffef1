import { lazy, Suspense, type ReactNode } from 'react'
import { useIssue } from '../api/issues.ts'
import { serverSessionSource } from '../api/server-session-source.ts'
import { SessionSourceProvider } from '../api/session-source.ts'
import { useSession } from '../api/use-session.ts'
import { RunFromHere } from '../rerun/run-from-here.tsx'
import { Dialog } from '../ui/controls/dialog.tsx'
import { NotLoaded } from '../ui/data/error-notice.tsx'
import type { IssueTool } from './issue-keys.ts'

/** Loaded on demand: it can write what every provider answers. */
const TestDownload = lazy(async () => ({
  default: (await import('../rerun/test-download.tsx')).TestDownload,
}))

export const toolNames: Record<IssueTool, string> = { test: 'Make a test', verify: 'Verify' }

type IssueDialogProps = { issueId: string; tool: IssueTool; onClose: () => void }

/** Makes a test of the latest session of an issue, or runs it again from the suspect. */
export function IssueDialog({ issueId, tool, onClose }: IssueDialogProps) {
  const query = useIssue(issueId)
  if (query.data === undefined)
    return (
      <Waiting tool={tool} onClose={onClose}>
        <NotLoaded query={query} lines={6} />
      </Waiting>
    )
  const { exampleSessionId, example } = query.data
  return (
    <SessionSourceProvider value={serverSessionSource}>
      <ExampleDialog sessionId={exampleSessionId} stepId={example.stepId} tool={tool} onClose={onClose} />
    </SessionSourceProvider>
  )
}

type ExampleProps = { sessionId: string; stepId: string; tool: IssueTool; onClose: () => void }

function ExampleDialog({ sessionId, stepId, tool, onClose }: ExampleProps) {
  const query = useSession(sessionId)
  const waiting = (
    <Waiting tool={tool} onClose={onClose}>
      <NotLoaded query={query} lines={6} />
    </Waiting>
  )
  if (query.data === undefined) return waiting
  const { session, steps } = query.data
  if (tool === 'test')
    return (
      <Suspense fallback={waiting}>
        <TestDownload session={session} onClose={onClose} />
      </Suspense>
    )
  return <RunFromHere session={query.data} stepId={stepId || (steps[0]?.id ?? '')} onClose={onClose} />
}

function Waiting({ tool, onClose, children }: { tool: IssueTool; onClose: () => void; children: ReactNode }) {
  return (
    <Dialog title={toolNames[tool]} isWide isOpen onOpenChange={(isOpen) => !isOpen && onClose()}>
      {children}
    </Dialog>
  )
}
