import { visibleText } from '@playhead/model'
import {
  Link,
  Navigate,
  Outlet,
  useRouterState,
  type ErrorComponentProps,
  useNavigate,
} from '@tanstack/react-router'
import { Search, LogOut, Unplug } from 'lucide-react'
import { lazy, Suspense, useCallback, useEffect, useState } from 'react'
import { useMe, wasAuthOn, useLogout } from '../api/access.ts'
import { rememberProject, useProjectId, useProjects } from '../api/projects.ts'
import { Button, IconButton } from '../ui/controls/button.tsx'
import { ProjectMenu } from './project-menu.tsx'
import { ThemeMenu } from '../ui/controls/theme-menu.tsx'
import { useQueryClient } from '@tanstack/react-query'
import { useIsUnreachable, whenServerIsBack } from '../api/connection.ts'
import { usePageTitle } from '../ui/browser/use-page-title.ts'
import { ErrorNotice } from '../ui/data/error-notice.tsx'
import { PageProblem } from '../ui/data/page-problem.tsx'
import './shell.css'

const CommandPalette = lazy(async () => ({
  default: (await import('./command-palette.tsx')).CommandPalette,
}))

/** The frame around every page. Whoever opens a share link has none of what it leads to. */
export function Shell() {
  const isShared = useRouterState({ select: ({ location }) => location.pathname.startsWith('/shared/') })
  return isShared ? <Outlet /> : <PageFrame />
}

function PageFrame() {
  const path = useRouterState({ select: ({ location }) => location.pathname })
  const href = useRouterState({ select: ({ location }) => location.href })
  const me = useMe()
  const isLoginPage = path === '/login'
  // If the server requires a login, pages wait until it is known that there is one.
  const isUnknown = me.data === undefined && me.error === null && wasAuthOn()
  useRememberedProject()
  useVisibleProject(me.data?.person !== undefined)
  if (isLoginPage) return <Outlet />
  if (me.data?.kind === 'nobody') return <Navigate to="/login" search={{ back: href }} replace />
  return (
    <div className="shell">
      <a className="shell-skip" href="#main">
        Skip to content
      </a>
      <ShellBar isAuthOn={me.data?.isAuthOn === true} />
      <ConnectionNotice />
      <main id="main" className="shell-main" tabIndex={-1}>
        {isUnknown ? null : <Outlet />}
      </main>
    </div>
  )
}

function ShellBar({ isAuthOn }: { isAuthOn: boolean }) {
  const [isPaletteOpen, setIsPaletteOpen] = useState(false)
  usePaletteKey(useCallback(() => setIsPaletteOpen((isOpen) => !isOpen), []))
  return (
    <header className="shell-bar">
      <Link to="/sessions" className="shell-logo" aria-label="Playhead: sessions">
        <svg viewBox="0 0 12 18" width="12" height="18" aria-hidden="true">
          <path d="M0 0h12L7 7v11H5V7z" fill="currentColor" />
        </svg>
        <span className="shell-word">Playhead</span>
      </Link>
      <nav className="shell-nav" aria-label="Pages">
        <Link to="/overview">Overview</Link>
        <Link to="/sessions">Sessions</Link>
        <Link to="/issues">Issues</Link>
        <Link to="/tests">Tests</Link>
        <Link to="/settings">Settings</Link>
      </nav>
      <div className="shell-end">
        <ProjectMenu />
        <Button
          className="shell-search"
          onClick={() => setIsPaletteOpen(true)}
          aria-keyshortcuts="Control+K Meta+K"
        >
          <Search size={14} aria-hidden="true" />
          <span className="shell-search-word">Search</span>
          <kbd>{isApple() ? '⌘K' : 'Ctrl K'}</kbd>
        </Button>
        <ThemeMenu />
        {isAuthOn && <AccountMenu />}
      </div>
      {isPaletteOpen && (
        <Suspense>
          <CommandPalette onClose={() => setIsPaletteOpen(false)} />
        </Suspense>
      )}
    </header>
  )
}

function usePaletteKey(toggle: () => void): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (
        event.key.toLowerCase() !== 'k' ||
        !(event.metaKey || event.ctrlKey) ||
        event.shiftKey ||
        event.altKey
      )
        return
      event.preventDefault()
      toggle()
    }
    window.addEventListener('keydown', onKeyDown)
    return () => window.removeEventListener('keydown', onKeyDown)
  }, [toggle])
}

function useRememberedProject(): void {
  const project = useProjectId()
  useEffect(() => rememberProject(project), [project])
}

/** Who has a role in some projects only does not begin with one that they can't see. */
function useVisibleProject(isKnownPerson: boolean): void {
  const project = useProjectId()
  const navigate = useNavigate()
  const { data: projects } = useProjects(isKnownPerson)
  const other = projects?.some(({ id }) => id === project) === false ? projects[0]?.id : undefined
  useEffect(() => {
    if (other !== undefined)
      void navigate({ to: '.', search: (search) => ({ ...search, project: other }), replace: true })
  }, [other, navigate])
}

function isApple(): boolean {
  return /Mac|iPhone|iPad/.test(navigator.userAgent)
}

function AccountMenu() {
  const logout = useLogout()
  const { data: me } = useMe()
  const name = me?.person === undefined ? '' : ` (${visibleText(me.person.name)})`
  return (
    <IconButton label={`Log out${name}`} onClick={() => logout.mutate()} disabled={logout.isPending}>
      <LogOut size={15} aria-hidden="true" />
    </IconButton>
  )
}

/** Shown while the server does not respond; refetches everything when it does again. */
function ConnectionNotice() {
  const client = useQueryClient()
  const isUnreachable = useIsUnreachable()
  useEffect(() => whenServerIsBack(() => void client.invalidateQueries()), [client])
  return (
    <div role="status">
      {isUnreachable && (
        <p className="connection-notice">
          <Unplug size={14} aria-hidden="true" />
          The server does not respond. This page may be out of date; it will refresh when the server is back.
        </p>
      )}
    </div>
  )
}

/** Shown when a page fails to load: a newer build replaced its code while the tab was open, or the server is gone. */
export function PageFailed({ error }: ErrorComponentProps) {
  usePageTitle(undefined)
  useEffect(() => whenServerIsBack(() => location.reload()), [])
  return (
    <PageProblem title="This page could not be loaded">
      <ErrorNotice
        error={error instanceof Error ? error : new Error(String(error))}
        onRetry={() => location.reload()}
      />
    </PageProblem>
  )
}
