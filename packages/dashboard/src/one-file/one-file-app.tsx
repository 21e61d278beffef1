import { useEffect, useMemo, useSyncExternalStore } from 'react'
import type { SessionSummary, TestReport } from '@playhead/model'
import { SessionSourceProvider } from '../api/session-source.ts'
import { useSession } from '../api/use-session.ts'
import { ReportIndex } from './test-report.tsx'
import { ErrorNotice } from '../ui/data/error-notice.tsx'
import { SkeletonLines } from '../ui/data/skeleton.tsx'
import { ThemeMenu } from '../ui/controls/theme-menu.tsx'
import { createFileSource } from './file-session-source.ts'
import { createHashLocation, readHash } from './hash-location.ts'
import { OneFileIndex } from './session-index.tsx'
import { ReplayView } from '../replay-page/replay-view.tsx'
import { BackMark } from '../replay-page/header/session-header.tsx'
import '../shell/shell.css'
import './one-file-app.css'

type OneFileAppProps = { sessions: readonly SessionSummary[]; report?: TestReport | undefined }

/** The app inside a one-file recording: its test report or list of sessions, and the replay of each session. */
export function OneFileApp({ sessions, report }: OneFileAppProps) {
  const hasTests = report !== undefined && report.tests.length > 0
  const source = useMemo(() => createFileSource(sessions), [sessions])
  const asked = useSyncExternalStore(subscribeToHash, () => readHash().session)
  const known = sessions.find(({ id }) => asked !== undefined && id.startsWith(asked.replace(/^s_/, '')))
  const chosen = known ?? (sessions.length === 1 && !hasTests ? sessions[0] : undefined)
  useEffect(() => {
    const whole = hasTests ? 'Test report · Playhead' : 'Playhead replay'
    document.title = chosen === undefined ? whole : `${chosen.name} · Playhead replay`
  }, [chosen, hasTests])
  return (
    <SessionSourceProvider value={source}>
      <div className="shell">
        <header className="shell-bar">
          <span className="shell-logo">
            <svg viewBox="0 0 12 18" width="12" height="18" aria-hidden="true">
              <path d="M0 0h12L7 7v11H5V7z" fill="currentColor" />
            </svg>
            Playhead
          </span>
          <span className="dim">{hasTests ? 'Test report' : 'Recording'}</span>
          <div className="shell-end">
            <ThemeMenu />
          </div>
        </header>
        <main className="shell-main">
          {chosen !== undefined ? (
            <FileReplay
              key={chosen.id}
              sessionId={chosen.id}
              back={hasTests ? 'Tests' : sessions.length > 1 ? 'Sessions' : undefined}
            />
          ) : hasTests ? (
            <ReportIndex report={report} />
          ) : (
            <OneFileIndex sessions={sessions} />
          )}
        </main>
      </div>
    </SessionSourceProvider>
  )
}

function FileReplay({ sessionId, back }: { sessionId: string; back: 'Tests' | 'Sessions' | undefined }) {
  const location = useMemo(() => createHashLocation(sessionId), [sessionId])
  const { data, error } = useSession(sessionId)
  if (data !== undefined)
    return (
      <ReplayView
        data={data}
        location={location}
        back={
          back === undefined ? null : (
            <a href="#" className="header-back" aria-label={`Back to ${back.toLowerCase()}`}>
              <BackMark label={back} />
            </a>
          )
        }
      />
    )
  return (
    <div className="replay-loading">
      {error === null ? <SkeletonLines count={12} /> : <ErrorNotice error={error} />}
    </div>
  )
}

function subscribeToHash(listener: () => void): () => void {
  addEventListener('hashchange', listener)
  return () => removeEventListener('hashchange', listener)
}
