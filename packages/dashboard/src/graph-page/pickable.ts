import type { KeyboardEvent, MouseEvent } from 'react'
import { visibleText, type GraphFailure } from '@playhead/model'

/** The attributes that make an SVG element a button. */
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

/** The failure rate as a percentage for CSS. */
export function failedShare({ rate }: GraphFailure): string {
  return `${Math.round((rate ?? 0) * 100)}%`
}
