import { Link, Outlet } from '@tanstack/react-router'
import { ThemeMenu } from './theme-menu.tsx'
import './shell.css'

/** The frame around every page. */
export function Shell() {
  return (
    <div className="shell">
      <a className="shell-skip" href="#main">
        Skip to the page
      </a>
      <header className="shell-bar">
        <Link to="/sessions" className="shell-logo" aria-label="Playhead, to the sessions">
          <svg viewBox="0 0 12 18" width="12" height="18" aria-hidden="true">
            <path d="M0 0h12L7 7v11H5V7z" fill="currentColor" />
          </svg>
          Playhead
        </Link>
        <nav className="shell-nav" aria-label="Pages">
          <Link to="/overview">Overview</Link>
          <Link to="/sessions">Sessions</Link>
          <Link to="/tests">Tests</Link>
          <Link to="/settings">Settings</Link>
        </nav>
        <div className="shell-end">
          <ThemeMenu />
        </div>
      </header>
      <main id="main" className="shell-main">
        <Outlet />
      </main>
    </div>
  )
}
