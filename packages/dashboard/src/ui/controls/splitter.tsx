import { useState, type CSSProperties, type KeyboardEvent, type PointerEvent, type ReactNode } from 'react'
import './splitter.css'

const LEAST = 22
const MOST = 78
const KEY_STEP = 2

/** Two panes with a bar between them that can be dragged. Its position is saved in the browser under `name`. */
export function Splitter({
  name,
  label,
  initial,
  left,
  right,
}: {
  name: string
  label: string
  /** The default width of the left pane, in percent. */
  initial: number
  left: ReactNode
  right: ReactNode
}) {
  const key = `playhead.split.${name}`
  const [percent, setPercent] = useState(() => readPercent(key) ?? initial)
  const change = (next: number) => {
    const kept = Math.min(MOST, Math.max(LEAST, next))
    setPercent(kept)
    writePercent(key, kept)
  }
  const onPointerMove = (event: PointerEvent<HTMLDivElement>) => {
    if (!event.currentTarget.hasPointerCapture(event.pointerId)) return
    const box = event.currentTarget.parentElement!.getBoundingClientRect()
    change(((event.clientX - box.left) / box.width) * 100)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') return
    event.preventDefault()
    event.stopPropagation()
    change(percent + (event.key === 'ArrowLeft' ? -KEY_STEP : KEY_STEP))
  }
  return (
    <div className="splitter" style={{ '--split': `${percent}%` } as CSSProperties}>
      <div className="splitter-left">{left}</div>
      <div
        className="splitter-bar"
        role="separator"
        aria-orientation="vertical"
        aria-label={label}
        aria-valuemin={LEAST}
        aria-valuemax={MOST}
        aria-valuenow={Math.round(percent)}
        tabIndex={0}
        onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
        onPointerMove={onPointerMove}
        onDoubleClick={() => change(initial)}
        onKeyDown={onKeyDown}
      />
      <div className="splitter-right">{right}</div>
    </div>
  )
}

/** Pages opened from disk may have no storage. */
function readPercent(key: string): number | undefined {
  try {
    const value = Number(localStorage.getItem(key) ?? Number.NaN)
    return value >= LEAST && value <= MOST ? value : undefined
  } catch {
    return undefined
  }
}

function writePercent(key: string, percent: number): void {
  try {
    localStorage.setItem(key, String(Math.round(percent * 10) / 10))
  } catch {
    // The position is just not saved.
  }
}
