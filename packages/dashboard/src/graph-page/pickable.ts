import type { KeyboardEvent, MouseEvent } from 'react'
import { visibleText, type GraphFailure } from '@playhead/model'

/** What makes a part of the drawing a button. */
export function pickable(id: string, label: string, onPick: (pick: string) => void) {
  return {
    role: 'button',
    tabIndex: 0,
    'aria-label': visibleText(label),
    onClick: (event: MouseEvent) => {
      event.stopPropagation()
      onPick(id)
    },
    onKeyDown: (event: KeyboardEvent) => {
      if (event.key !== 'Enter' && event.key !== ' ') return
      event.preventDefault()
      onPick(id)
    },
  }
}

/** For CSS to mix colours by. */
export function failedShare({ rate }: GraphFailure): string {
  return `${Math.round((rate ?? 0) * 100)}%`
}
