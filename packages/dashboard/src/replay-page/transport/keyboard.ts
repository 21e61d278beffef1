import { useEffect } from 'react'
import type { Verdict } from '@playhead/model'
import type { Player } from '../playback/player.ts'
import { SEARCH_FIELD_ID } from '../steps/step-list-bar.tsx'

const SECOND_MS = 1000

export type KeyActions = {
  player: Player
  /** Unfolds whatever hides the selected step. */
  reveal: () => void
  fold: () => void
  clear: () => void
  help: () => void
  runFromHere: () => void
  /** Goes to the next or previous suspect. */
  suspect: (direction: 1 | -1) => void
  /** Undefined if nobody can judge the session. */
  verdict: VerdictActions | undefined
}

type VerdictActions = {
  give: (verdict: Verdict, isAboutStep: boolean) => void
  /** Opens the next or previous session of a list; undefined outside of a review. */
  move: ((by: 1 | -1) => void) | undefined
}

const verdictKeys: Readonly<Record<string, Verdict>> = { y: 'right', n: 'wrong', u: 'unsure' }

/** The keyboard shortcuts of the page. Fields, menus, tabs, dialogs and the browser keep their own keys. */
export function useReplayKeys(actions: KeyActions): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return
      if (isReserved(event)) return
      if (act(event, actions)) event.preventDefault()
    }
    addEventListener('keydown', onKeyDown)
    return () => removeEventListener('keydown', onKeyDown)
  })
}

function act(event: KeyboardEvent, actions: KeyActions): boolean {
  const { player, reveal, fold, clear, help, runFromHere, suspect, verdict } = actions
  const jump = (move: () => void) => {
    move()
    reveal()
    return true
  }
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key
  if (verdict !== undefined && judge(key, event.shiftKey, verdict)) return true
  switch (key) {
    case ' ':
      return done(player.toggle())
    case 'l':
      return done(player.play())
    case 'k':
      return done(player.pause())
    case 'j':
      return done(player.play(true))
    case 'ArrowLeft':
    case 'ArrowRight': {
      const count = event.key === 'ArrowLeft' ? -1 : 1
      if (!event.shiftKey) return done(player.stepBy(count))
      return done(player.seek(player.getState().positionMs + count * SECOND_MS))
    }
    case 'e':
      return jump(() => player.jumpToError(event.shiftKey ? -1 : 1))
    case 'w':
      return done(suspect(event.shiftKey ? -1 : 1))
    case 'Home':
      return done(player.jumpToStart())
    case 'End':
      return done(player.seek(player.timeline.durationMs))
    case '/':
      return done(document.getElementById(SEARCH_FIELD_ID)?.focus())
    case 'f':
      return done(fold())
    case 'r':
      return done(runFromHere())
    case 'Escape':
      return done(clear())
    case '?':
      return done(help())
    default:
      return false
  }
}

/** In a review J and K go through the list; otherwise they play backwards and pause. */
function judge(key: string, isShifted: boolean, { give, move }: VerdictActions): boolean {
  const verdict = verdictKeys[key]
  if (verdict !== undefined) return done(give(verdict, isShifted))
  if (move === undefined || (key !== 'j' && key !== 'k')) return false
  return done(move(key === 'j' ? 1 : -1))
}

function done(_result: void): true {
  return true
}

const keyboardWidgets = 'input, textarea, select, [contenteditable="true"], [role="menu"], [role="dialog"]'
const pressable = 'button, a, summary, [role="tab"], [role="separator"], [role="radio"], [role="checkbox"]'

/** True when the focused element uses the key itself. */
function isReserved(event: KeyboardEvent): boolean {
  if (document.querySelector('[role="dialog"], [role="menu"]') !== null) return true
  if (!(event.target instanceof Element)) return false
  if (event.target.closest(keyboardWidgets) !== null)
    return event.target.closest('[type="checkbox"]') === null || event.key === ' '
  const isPress = event.key === ' ' || event.key === 'Enter'
  if (isPress) return event.target.closest(pressable) !== null
  const isArrow = event.key.startsWith('Arrow') || event.key === 'Home' || event.key === 'End'
  return isArrow && event.target.closest('[role="tab"], [role="separator"], [role="radio"]') !== null
}
