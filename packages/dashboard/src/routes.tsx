import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
  retainSearchParams,
} from '@tanstack/react-router'
import { lastProject } from './api/projects.ts'
import { compareSearch } from './compare-page/compare-search.ts'
import { graphSearch } from './graph-page/graph-search.ts'
import { issuesSearch } from './issues-page/issues-search.ts'
import { overviewSearch } from './overview-page/overview-search.ts'
import { replaySearch } from './replay-page/playback/replay-location.ts'
import { sessionsSearch } from './sessions-page/sessions-search.ts'
import { testsSearch } from './tests-page/tests-search.ts'
import { NoSuchPage } from './ui/data/page-problem.tsx'
import { parsePlainSearch, pickTexts, writePlainSearch } from './ui/browser/search-params.ts'
import { PageFailed, Shell } from './shell/shell.tsx'

/** Each page is a separate chunk. Every address keeps the project. */
const root = createRootRoute({
  component: Shell,
  validateSearch: (search: Record<string, unknown>): { project?: string } => pickTexts(search, ['project']),
  search: { middlewares: [retainSearchParams(['project'])] },
})

const overview = createRoute({
  getParentRoute: () => root,
  path: '/overview',
  validateSearch: overviewSearch,
  component: lazyRouteComponent(() => import('./overview-page/overview-page.tsx'), 'OverviewPage'),
})

const home = createRoute({
  getParentRoute: () => root,
  path: '/',
  beforeLoad: ({ search }) => {
    const project = search.project ?? lastProject()
    throw redirect({ to: '/sessions', search: project === undefined ? {} : { project } })
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

const shared = createRoute({
  getParentRoute: () => root,
  path: '/shared/$shareId',
  validateSearch: replaySearch,
  component: lazyRouteComponent(() => import('./replay-page/shared-page.tsx'), 'SharedPage'),
})

const compare = createRoute({
  getParentRoute: () => root,
  path: '/compare',
  validateSearch: compareSearch,
  component: lazyRouteComponent(() => import('./compare-page/compare-page.tsx'), 'ComparePage'),
})

const graph = createRoute({
  getParentRoute: () => root,
  path: '/graph',
  validateSearch: graphSearch,
  component: lazyRouteComponent(() => import('./graph-page/graph-page.tsx'), 'GraphPage'),
})

const tests = createRoute({
  getParentRoute: () => root,
  path: '/tests',
  validateSearch: testsSearch,
  component: lazyRouteComponent(() => import('./tests-page/tests-page.tsx'), 'TestsPage'),
})

const issues = createRoute({
  getParentRoute: () => root,
  path: '/issues',
  validateSearch: issuesSearch,
  component: lazyRouteComponent(() => import('./issues-page/issues-page.tsx'), 'IssuesPage'),
})

const settingsHome = createRoute({
  getParentRoute: () => root,
  path: '/settings',
  beforeLoad: () => {
    throw redirect({ to: '/settings/$section', params: { section: 'projects' } })
  },
})

const settings = createRoute({
  getParentRoute: () => root,
  path: '/settings/$section',
  component: lazyRouteComponent(() => import('./settings-page/settings-page.tsx'), 'SettingsPage'),
})

const pair = createRoute({
  getParentRoute: () => root,
  path: '/pair',
  component: lazyRouteComponent(() => import('./pair-page/pair-page.tsx'), 'PairPage'),
})

const login = createRoute({
  getParentRoute: () => root,
  path: '/login',
  validateSearch: (search: Record<string, unknown>): { back?: string } => pickTexts(search, ['back']),
  component: lazyRouteComponent(() => import('./login-page/login-page.tsx'), 'LoginPage'),
})

export const router = createRouter({
  routeTree: root.addChildren([
    home,
    overview,
    sessions,
    replay,
    shared,
    compare,
    graph,
    tests,
    issues,
    settingsHome,
    settings,
    login,
    pair,
  ]),
  defaultPreload: 'intent',
  defaultNotFoundComponent: NoSuchPage,
  defaultErrorComponent: PageFailed,
  parseSearch: parsePlainSearch,
  stringifySearch: writePlainSearch,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
