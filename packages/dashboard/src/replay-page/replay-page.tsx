import { Link, useParams, useRouter } from '@tanstack/react-router'
import type { SessionSummary } from '@playhead/model'
import { lazy, Suspense, useMemo } from 'react'
import { ApiError } from '../api/call-api.ts'
import { serverSessionSource } from '../api/server-session-source.ts'
import { SessionSourceProvider, type SessionSource } from '../api/session-source.ts'
import { useLiveSession } from '../api/use-live-session.ts'
import { useSession } from '../api/use-session.ts'
import { ErrorNotice } from '../ui/data/error-notice.tsx'
import { PageProblem } from '../ui/data/page-problem.tsx'
import { SkeletonLines } from '../ui/data/skeleton.tsx'
import { usePageTitle } from '../ui/browser/use-page-title.ts'
import { CompareLink } from './header/compare-link.tsx'
import { ShareButton } from './header/share-button.tsx'
import { Lineage } from './header/lineage.tsx'
import { RunFromHere } from '../rerun/run-from-here.tsx'
import { type ReplayLocation, replaySearch } from './playback/replay-location.ts'
import { ReplayView } from './replay-view.tsx'
import { BackMark } from './header/session-header.tsx'
import { useProjectId } from '../api/projects.ts'

/** Loaded on demand: it can write what every provider answers. */
const TestDownload = lazy(async () => ({
  default: (await import('../rerun/test-download.tsx')).TestDownload,
}))

/** Replays one session of the server. */
export function ReplayPage({ source = serverSessionSource }: { source?: SessionSource }) {
  return (
    <SessionSourceProvider value={source}>
      <ServerReplay />
    </SessionSourceProvider>
  )
}

/** Late steps may still arrive this long after the end. */
const LATE_STEPS_MS = 30_000

function ServerReplay() {
  const { sessionId } = useParams({ from: '/sessions/$sessionId' })
  const { data, error, refetch } = useSession(sessionId)
  const location = useRouterLocation(sessionId)
  const router = useRouter()
  const isUnknown = error instanceof ApiError && error.status === 404
  usePageTitle(isUnknown ? 'Session not found' : data && titleOf(data.session))
  const endedAt = data?.session.endedAt
  const isRecent = typeof endedAt === 'string' && Date.now() - Date.parse(endedAt) < LATE_STEPS_MS
  useLiveSession(sessionId, data !== undefined && (data.session.endState === 'running' || isRecent))
  if (data !== undefined)
    return (
      <ReplayView
        key={data.session.id}
        data={data}
        location={location}
        back={
          <Link to="/sessions" className="header-back" aria-label="Back to sessions">
            <BackMark label="Sessions" />
          </Link>
        }
        tools={
          <>
            <CompareLink session={data.session} />
            <ShareButton sessionId={data.session.id} />
          </>
        }
        lineage={<Lineage />}
        onOpenSession={(id) => openSession(router, id)}
        renderFork={(stepId, onClose) => <RunFromHere session={data} stepId={stepId} onClose={onClose} />}
        renderTest={(onClose) => (
          <Suspense>
            <TestDownload session={data.session} onClose={onClose} />
          </Suspense>
        )}
      />
    )
  if (isUnknown) return <NoSuchSession sessionId={sessionId} />
  return (
    <div className="replay-loading">
      {error === null ? (
        <SkeletonLines count={12} />
      ) : (
        <ErrorNotice error={error} onRetry={() => void refetch()} />
      )}
    </div>
  )
}

/** Goes on with the same list, at the place where the session opens. */
function openSession(router: ReturnType<typeof useRouter>, sessionId: string): void {
  const { review, project } = replaySearch(router.state.location.search)
  void router.navigate({
    to: '/sessions/$sessionId',
    params: { sessionId },
    search: { ...(review !== undefined && { review }), ...(project !== undefined && { project }) },
  })
}

function titleOf({ name, endState }: SessionSummary): string {
  return endState === 'fail' ? `Fail · ${name}` : name
}

function useRouterLocation(sessionId: string): ReplayLocation {
  const router = useRouter()
  return useMemo<ReplayLocation>(
    () => ({
      getSearch: () => replaySearch(router.state.location.search),
      subscribe: (listener) => router.subscribe('onResolved', listener),
      replace: (search) =>
        void router.navigate({
          to: '/sessions/$sessionId',
          params: { sessionId },
          search,
          replace: true,
          resetScroll: false,
        }),
      linkTo: (search) => {
        const { project } = replaySearch(router.state.location.search)
        const { href } = router.buildLocation({
          to: '/sessions/$sessionId',
          params: { sessionId },
          search: { ...search, ...(project !== undefined && { project }) },
        })
        return new URL(href, window.location.href).href
      },
    }),
    [router, sessionId],
  )
}

function NoSuchSession({ sessionId }: { sessionId: string }) {
  const project = useProjectId()
  return (
    <PageProblem title="Session not found">
      <p role="alert">
        There is no session <code>{sessionId}</code> in the project <b>{project}</b>. It may have been deleted
        or expired, or it may be in another project.
      </p>
      <p>
        <Link to="/sessions">Back to sessions</Link>
      </p>
    </PageProblem>
  )
}
