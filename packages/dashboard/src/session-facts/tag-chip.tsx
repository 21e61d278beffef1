import { visibleText } from '@playhead/model'
import './tag-chip.css'

const SHORT = 10

/** A tag; with `onClick` it is a button. Short tags are never truncated. */
export function TagChip({
  children,
  title,
  onClick,
  tabIndex,
}: {
  children: string
  title?: string
  onClick?: () => void
  tabIndex?: number
}) {
  const className = `tag-chip${children.length <= SHORT ? ' is-short' : ''}`
  if (onClick === undefined)
    return (
      <span className={className} title={title}>
        {visibleText(children)}
      </span>
    )
  return (
    <button
      type="button"
      className={className}
      title={title}
      tabIndex={tabIndex}
      onClick={(event) => {
        event.stopPropagation()
        event.preventDefault()
        onClick()
      }}
    >
      {visibleText(children)}
    </button>
  )
}
