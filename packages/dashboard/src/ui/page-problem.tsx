import { Link, type ErrorComponentProps } from '@tanstack/react-router'
import { ErrorNotice } from './error-notice.tsx'
import './page-problem.css'

export function NoSuchPage() {
  return (
    <div className="page-problem">
      <h1>There is no such page</h1>
      <p>
        The address may be mistyped. <Link to="/sessions">To the sessions</Link>
      </p>
    </div>
  )
}

/** A page that could not be shown: usually its code was replaced by a newer build while the tab was open. */
export function PageFailed({ error }: ErrorComponentProps) {
  return (
    <div className="page-problem">
      <h1>This page could not be shown</h1>
      <ErrorNotice
        error={error instanceof Error ? error : new Error(String(error))}
        onRetry={() => location.reload()}
      />
    </div>
  )
}
