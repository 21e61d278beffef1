import { Link, type ErrorComponentProps } from '@tanstack/react-router'
import { useEffect } from 'react'
import { whenServerIsBack } from '../../api/connection.ts'
import { ErrorNotice } from './error-notice.tsx'
import { usePageTitle } from '../browser/use-page-title.ts'
import './page-problem.css'

export function NoSuchPage() {
  usePageTitle('No such page')
  return (
    <div className="page-problem">
      <h1>There is no such page</h1>
      <p>
        The address may be mistyped. <Link to="/sessions">To the sessions</Link>
      </p>
    </div>
  )
}

/** A page that could not be shown: its code was replaced by a newer build while the tab was open, or the server is gone. */
export function PageFailed({ error }: ErrorComponentProps) {
  usePageTitle(undefined)
  useEffect(() => whenServerIsBack(() => location.reload()), [])
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
