import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  RouterProvider,
} from '@tanstack/react-router'
import { diagnoseSession, type Session } from '@playhead/model'
import { render } from 'vitest-browser-react'
import { queryClient } from '../src/api/query-client.ts'
import type { SessionSource } from '../src/api/session-source.ts'
import { replaySearch } from '../src/replay-page/playback/replay-location.ts'
import { ReplayPage } from '../src/replay-page/replay-page.tsx'
import '../src/shell/shell.css'
import '../src/ui/browser/theme.css'

/** Renders the replay page with a source that has this session; `source` overrides parts of it, `search` is the URL's. */
export function openReplay(session: Session, source: Partial<SessionSource> = {}, search = '') {
  const known = { ...sourceOf(session), ...source }
  const root = createRootRoute()
  const list = createRoute({ getParentRoute: () => root, path: '/sessions' })
  const replay = createRoute({
    getParentRoute: () => root,
    path: '/sessions/$sessionId',
    validateSearch: replaySearch,
    component: () => <ReplayPage source={{ openSession: known.readSession, ...known }} />,
  })
  const compare = createRoute({
    getParentRoute: () => root,
    path: '/compare',
    component: () => <p>Compare {JSON.stringify(compare.useSearch())}</p>,
  })
  const router = createRouter({
    routeTree: root.addChildren([list, replay, compare]),
    history: createMemoryHistory({ initialEntries: [`/sessions/${session.session.id}${search}`] }),
  })
  const client = new QueryClient({ defaultOptions: queryClient.getDefaultOptions() })
  return render(
    <QueryClientProvider client={client}>
      <div className="shell" style={{ height: '100vh' }}>
        <main className="shell-main">
          <RouterProvider router={router} />
        </main>
      </div>
    </QueryClientProvider>,
  )
}

function sourceOf(session: Session): Omit<SessionSource, 'openSession'> {
  return {
    name: 'test',
    isServed: true,
    readSession: () => Promise.resolve(session),
    readPayloads: () => Promise.resolve(session),
    readStep: (_sessionId, stepId) =>
      Promise.resolve({ ...session.steps.find(({ id }) => id === stepId)!, hasPayload: true }),
    readFindings: () => Promise.resolve(diagnoseSession(session)),
    downloadsOf: () => [],
  }
}
