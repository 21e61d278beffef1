import { useParams, useRouter, useRouterState } from '@tanstack/react-router'
import { EyeOff, Link2Off } from 'lucide-react'
import { useMemo } from 'react'
import { ApiError } from '../api/call-api.ts'
import { SessionSourceProvider, type LoadedSession } from '../api/session-source.ts'
import { createSharedSource } from '../api/server-session-source.ts'
import { useSession } from '../api/use-session.ts'
import { usePageTitle } from '../ui/browser/use-page-title.ts'
import { ThemeMenu } from '../ui/controls/theme-menu.tsx'
import { formatExactTime } from '../ui/data/age.tsx'
import { ErrorNotice } from '../ui/data/error-notice.tsx'
import { PageProblem } from '../ui/data/page-problem.tsx'
import { SkeletonLines } from '../ui/data/skeleton.tsx'
import { replaySearch, type ReplayLocation } from './playback/replay-location.ts'
import { ReplayView } from './replay-view.tsx'
import './shared-page.css'

/** The replay of a session that somebody shared: nothing on it writes, or leads to another page. */
export function SharedPage() {
  const { shareId } = useParams({ from: '/shared/$shareId' })
  const token = useRouterState({ select: ({ location }) => location.hash })
  const source = useMemo(() => createSharedSource(shareId, token), [shareId, token])
  return (
    <SessionSourceProvider value={source}>
      <SharedReplay key={token} shareId={shareId} />
    </SessionSourceProvider>
  )
}

function SharedReplay({ shareId }: { shareId: string }) {
  const { data, error, refetch } = useSession(shareId)
  const location = useSharedLocation(shareId)
  usePageTitle(data?.session.name ?? 'Shared session')
  return (
    <div className="shell">
      <header className="shell-bar">
        <span className="shell-logo">
          <svg viewBox="0 0 12 18" width="12" height="18" aria-hidden="true">
            <path d="M0 0h12L7 7v11H5V7z" fill="currentColor" />
          </svg>
          Playhead
        </span>
        <span className="shared-word dim">Shared session</span>
        <div className="shell-end">
          <ShareFacts share={data?.share} />
          <ThemeMenu />
        </div>
      </header>
      <main className="shell-main">
        {data !== undefined ? (
          <ReplayView key={data.session.id} data={data} location={location} back={null} />
        ) : error === null ? (
          <div className="replay-loading">
            <SkeletonLines count={12} />
          </div>
        ) : (
          <Refused error={error} onRetry={() => void refetch()} />
        )}
      </main>
    </div>
  )
}

function ShareFacts({ share }: { share: LoadedSession['share'] }) {
  if (share === undefined) return null
  return (
    <span className="shared-facts dim">
      {!share.hasContent && (
        <span title="Whoever shared this session left out prompts, arguments, results and messages.">
          <EyeOff size={13} aria-hidden="true" /> Content left out
        </span>
      )}
      <span title={formatExactTime(share.expiresAt)}>expires {share.expiresAt.slice(0, 10)}</span>
    </span>
  )
}

function Refused({ error, onRetry }: { error: Error; onRetry: () => void }) {
  const status = error instanceof ApiError ? error.status : 0
  if (status !== 410 && status !== 401)
    return (
      <div className="replay-loading">
        <ErrorNotice error={error} onRetry={onRetry} />
      </div>
    )
  return (
    <PageProblem title={status === 410 ? 'This link no longer works' : 'This link is not complete'}>
      <p role="alert">
        <Link2Off size={14} aria-hidden="true" /> {error.message}
      </p>
    </PageProblem>
  )
}

/** As on the page of the dashboard, with the fragment that opens the link. */
function useSharedLocation(shareId: string): ReplayLocation {
  const router = useRouter()
  return useMemo<ReplayLocation>(
    () => ({
      getSearch: () => replaySearch(router.state.location.search),
      subscribe: (listener) => router.subscribe('onResolved', listener),
      replace: (search) =>
        void router.navigate({
          to: '/shared/$shareId',
          params: { shareId },
          search,
          hash: true,
          replace: true,
          resetScroll: false,
        }),
      linkTo: (search) => {
        const { href } = router.buildLocation({
          to: '/shared/$shareId',
          params: { shareId },
          search,
          hash: true,
        })
        return new URL(href, window.location.href).href
      },
    }),
    [router, shareId],
  )
}
