import { SearchX } from 'lucide-react'
import { Button } from '../ui/controls/button.tsx'
import './nothing-found.css'

type NothingFoundProps = {
  hasFilter: boolean
  hasRange: boolean
  onClearFilter: () => void
  onClearRange: () => void
}

/** A filter, or a stretch of time, that no session is in, and the ways out of it. */
export function NothingFound({ hasFilter, hasRange, onClearFilter, onClearRange }: NothingFoundProps) {
  return (
    <div className="nothing-found" role="status">
      <SearchX size={22} aria-hidden="true" />
      <h2>No session matches</h2>
      <p className="dim">
        {hasFilter && hasRange
          ? 'Neither the filter nor the time leaves anything.'
          : hasFilter
            ? 'The filter leaves nothing. Fewer terms find more.'
            : 'Nothing was recorded in this time.'}
      </p>
      <div className="nothing-ways">
        {hasFilter && <Button onClick={onClearFilter}>Clear the filter</Button>}
        {hasRange && <Button onClick={onClearRange}>Show all time</Button>}
      </div>
    </div>
  )
}
