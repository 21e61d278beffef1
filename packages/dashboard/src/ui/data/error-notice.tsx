import { CircleAlert } from 'lucide-react'
import { Button } from '../controls/button.tsx'
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
