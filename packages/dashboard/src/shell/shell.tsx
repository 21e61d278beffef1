import { Link, Navigate, Outlet, useRouterState } from '@tanstack/react-router'
import { Search } from 'lucide-react'
import { lazy, Suspense, useCallback, useEffect, useState } from 'react'
import { useMe, wasAuthOn } from '../api/me.ts'
import { rememberProject, useProjectId } from '../api/projects.ts'
import { AccountMenu } from './account-menu.tsx'
import { Button } from '../ui/controls/button.tsx'
import { ConnectionNotice } from './connection-notice.tsx'
import { ProjectMenu } from './project-menu.tsx'
import { ThemeMenu } from '../ui/controls/theme-menu.tsx'
import './shell.css'

const CommandPalette = lazy(async () => ({
  default: (await import('./command-palette.tsx')).CommandPalette,
}))

/** The frame around every page. */
export function Shell() {
  const path = useRouterState({ select: ({ location }) => location.pathname })
  const href = useRouterState({ select: ({ location }) => location.href })
  const me = useMe()
  const isLoginPage = path === '/login'
  // Where people log in, pages wait until it is known that somebody did; elsewhere nobody has to wait.
  const isUnknown = me.data === undefined && me.error === null && wasAuthOn()
  useRememberedProject()
  if (isLoginPage) return <Outlet />
  if (me.data?.kind === 'nobody') return <Navigate to="/login" search={{ back: href }} replace />
  return (
    <div className="shell">
      <a className="shell-skip" href="#main">
        Skip to the page
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
      <Link to="/sessions" className="shell-logo" aria-label="Playhead, to the sessions">
        <svg viewBox="0 0 12 18" width="12" height="18" aria-hidden="true">
          <path d="M0 0h12L7 7v11H5V7z" fill="currentColor" />
        </svg>
        <span className="shell-word">Playhead</span>
      </Link>
      <nav className="shell-nav" aria-label="Pages">
        <Link to="/overview">Overview</Link>
        <Link to="/sessions">Sessions</Link>
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

function isApple(): boolean {
  return /Mac|iPhone|iPad/.test(navigator.userAgent)
}
