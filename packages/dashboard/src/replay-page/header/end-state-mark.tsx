import { Radio } from 'lucide-react'
import type { EndState } from '@playhead/model'
import { EndStateBadge } from '../../session-facts/end-state.tsx'

/** How a session ended; one that has not is live. */
export function EndStateMark({ state }: { state: EndState }) {
  if (state !== 'running') return <EndStateBadge state={state} />
  return (
    <span className="live-badge">
      <Radio size={14} aria-hidden="true" />
      LIVE
    </span>
  )
}
