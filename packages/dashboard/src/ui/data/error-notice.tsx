import { CircleAlert } from 'lucide-react'
import { Button } from '../controls/button.tsx'
import { SkeletonLines } from './skeleton.tsx'
import './error-notice.css'

/** An error message, with a button to try again. */
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
  /** About how many lines the data will have. */
  lines: number
}

/** The place of data that has not loaded: a skeleton, or the error. */
export function NotLoaded({ query, lines }: NotLoadedProps) {
  if (query.error === null) return <SkeletonLines count={lines} />
  return <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />
}
