import { useMemo } from 'react'
import { countOf, formatOffset, stepTitle, visibleText } from '@playhead/model'
import { Menu, MenuHeading, MenuItem } from '../../ui/controls/menu.tsx'
import { useReplay } from '../playback/replay-context.ts'
import type { TimeScale } from '../playback/time-scale.ts'
import { errorLine } from '../steps/step-text.ts'
import { findErrorMarks, type ErrorMark } from './marks.ts'

const MAX_LISTED = 60

/** The errors in the ruler. A click selects the step; errors at the same place are listed first. */
export function ErrorMarks({ scale }: { scale: TimeScale }) {
  const { timeline } = useReplay()
  const { startsMs, errors } = timeline
  const marks = useMemo(() => findErrorMarks({ startsMs, errors }, scale), [startsMs, errors, scale])
  return (
    <div className="timeline-errors">
      {marks.map((mark) =>
        mark.positions.length === 1 ? (
          <SingleError key={mark.positions[0]} mark={mark} />
        ) : (
          <SeveralErrors key={mark.positions[0]} mark={mark} />
        ),
      )}
    </div>
  )
}

/** Not in the tab order: the key E goes from error to error. */
function SingleError({ mark: { x, positions } }: { mark: ErrorMark }) {
  const { timeline, goTo } = useReplay()
  const step = timeline.steps[positions[0]!]!
  const label = `Error at ${formatOffset(step.offsetMs)}: ${visibleText(stepTitle(step))}`
  return (
    <button
      type="button"
      tabIndex={-1}
      className="timeline-error"
      style={{ left: x }}
      aria-label={label}
      title={label}
      onClick={() => goTo(step.id)}
    />
  )
}

function SeveralErrors({ mark: { x, positions } }: { mark: ErrorMark }) {
  const { timeline, goTo } = useReplay()
  const label = `${countOf(positions.length, 'error')} at ${formatOffset(timeline.startsMs[positions[0]!]!)}`
  return (
    <Menu
      label={label}
      align="start"
      trigger={
        <button
          type="button"
          tabIndex={-1}
          className="timeline-error is-several"
          style={{ left: x }}
          aria-label={label}
          title={label}
        >
          {positions.length > 99 ? '99+' : positions.length}
        </button>
      }
    >
      <MenuHeading>{label}</MenuHeading>
      {positions.slice(0, MAX_LISTED).map((position) => {
        const step = timeline.steps[position]!
        return (
          <MenuItem key={step.id} onSelect={() => goTo(step.id)}>
            <b>{visibleText(stepTitle(step))}</b>{' '}
            {step.error !== undefined && (
              <span className="dim">{visibleText(errorLine(step.error)).slice(0, 120)}</span>
            )}
          </MenuItem>
        )
      })}
      {positions.length > MAX_LISTED && (
        <MenuHeading>Zoom in to see the other {positions.length - MAX_LISTED}</MenuHeading>
      )}
    </Menu>
  )
}
