import { CircleAlert } from 'lucide-react'
import { Button } from '../controls/button.tsx'
import { SkeletonLines } from './skeleton.tsx'
import './error-notice.css'

/** What went wrong and what to do about it. */
export function ErrorNotice({ error, onRetry }: { error: Error; onRetry?: () => void }) {
  return (
    <div className="error-notice" role="alert">
      <CircleAlert size={16} aria-hidden="true" />
      <p>{error.message}</p>
      {onRetry !== undefined && <Button onClick={onRetry}>Try again</Button>}
    </div>
  )
}

type NotLoadedProps = {
  query: { error: Error | null; refetch: () => unknown }
  /** How many lines what is awaited will have, about. */
  lines: number
}

/** Stands where data is not there yet: lines while it is awaited, or why it did not come and another try. */
export function NotLoaded({ query, lines }: NotLoadedProps) {
  if (query.error === null) return <SkeletonLines count={lines} />
  return <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />
}
