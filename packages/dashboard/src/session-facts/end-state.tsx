import { CircleCheck, CircleDashed, CircleHelp, CircleX, LoaderCircle, type LucideIcon } from 'lucide-react'
import { describeEndState, type EndState, visibleText } from '@playhead/model'
import './end-state.css'

export const endStateIcons: Record<EndState, LucideIcon> = {
  success: CircleCheck,
  fail: CircleX,
  indeterminate: CircleHelp,
  running: LoaderCircle,
  lost: CircleDashed,
}

export const endStateColors: Record<EndState, string> = {
  success: 'var(--ok)',
  fail: 'var(--bad)',
  indeterminate: 'var(--dim)',
  running: 'var(--live)',
  lost: 'var(--warn)',
}

/** How a session ended, as an icon and a word. */
export function EndStateBadge({ state, reason }: { state: EndState; reason?: string | undefined }) {
  const Icon = endStateIcons[state]
  return (
    <span
      className={`end-state end-state-${state}`}
      title={reason === undefined ? undefined : visibleText(reason)}
    >
      <Icon size={14} aria-hidden="true" />
      {describeEndState(state)}
    </span>
  )
}
