import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from '@tanstack/react-router'
import { Shell } from './ui/shell.tsx'
import { replaySearch } from './replay-page/replay-search.ts'
import { sessionsSearch } from './sessions-page/sessions-search.ts'

/** Pages are chunks of their own: the replay page loads without the others. */
const root = createRootRoute({ component: Shell })

const overview = createRoute({
  getParentRoute: () => root,
  path: '/overview',
  component: lazyRouteComponent(() => import('./overview-page/overview-page.tsx'), 'OverviewPage'),
})

const home = createRoute({
  getParentRoute: () => root,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/sessions' })
  },
})

const sessions = createRoute({
  getParentRoute: () => root,
  path: '/sessions',
  validateSearch: sessionsSearch,
  // AgentOps SDKs print links of this form.
  beforeLoad: ({ search }) => {
    if (search.trace_id !== undefined)
      throw redirect({ to: '/sessions/$sessionId', params: { sessionId: search.trace_id } })
  },
  component: lazyRouteComponent(() => import('./sessions-page/sessions-page.tsx'), 'SessionsPage'),
})

const replay = createRoute({
  getParentRoute: () => root,
  path: '/sessions/$sessionId',
  validateSearch: replaySearch,
  component: lazyRouteComponent(() => import('./replay-page/replay-page.tsx'), 'ReplayPage'),
})

const tests = createRoute({
  getParentRoute: () => root,
  path: '/tests',
  component: lazyRouteComponent(() => import('./tests-page/tests-page.tsx'), 'TestsPage'),
})

const settings = createRoute({
  getParentRoute: () => root,
  path: '/settings',
  component: lazyRouteComponent(() => import('./settings-page/settings-page.tsx'), 'SettingsPage'),
})

export const router = createRouter({
  routeTree: root.addChildren([home, overview, sessions, replay, tests, settings]),
  defaultPreload: 'intent',
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
