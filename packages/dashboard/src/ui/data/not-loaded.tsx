import { ErrorNotice } from './error-notice.tsx'
import { SkeletonLines } from './skeleton.tsx'

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
