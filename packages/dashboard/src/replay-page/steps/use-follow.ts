import { useEffectEvent, useLayoutEffect, useRef, type RefObject } from 'react'
import type { Virtualizer } from '@tanstack/react-virtual'
import { useReplay } from '../playback/replay-context.ts'

export const ROW_HEIGHT = 32

/**
 * Keeps the current row in sight: just so while it moves on, in the middle when it jumps. Rows have one height, so
 * nothing has to be measured. The list is scrolled as soon as the playhead moves, before React changes the page: to
 * scroll what has just changed, the browser would have to lay it out first, twice in each frame of a drag.
 */
export function useFollow(
  scroller: RefObject<HTMLDivElement | null>,
  virtualizer: Virtualizer<HTMLDivElement, Element>,
  currentRow: () => number,
): void {
  const { player } = useReplay()
  /** Where the list was scrolled to, which the virtualizer hears of later than the next move may come. */
  const scrolled = useRef<{ fromPx: number | null; toPx: number } | undefined>(undefined)
  const follow = useEffectEvent(() => {
    const element = scroller.current
    const row = currentRow()
    if (row < 0 || element === null) return
    const knownPx = virtualizer.scrollOffset
    const heightPx = virtualizer.scrollRect?.height ?? element.clientHeight
    const topPx =
      scrolled.current?.fromPx === knownPx ? scrolled.current.toPx : (knownPx ?? element.scrollTop)
    const rowPx = row * ROW_HEIGHT
    const isAbove = rowPx < topPx
    const isBelow = rowPx + ROW_HEIGHT > topPx + heightPx
    if (!isAbove && !isBelow) return
    const isNear = rowPx > topPx - heightPx / 2 && rowPx < topPx + heightPx * 1.5
    const nearPx = isAbove ? rowPx - ROW_HEIGHT : rowPx + 2 * ROW_HEIGHT - heightPx
    element.scrollTop = isNear ? nearPx : rowPx - heightPx / 2
    scrolled.current = { fromPx: knownPx, toPx: element.scrollTop }
  })
  useLayoutEffect(() => player.subscribe(() => follow()), [player])
  const row = currentRow()
  useLayoutEffect(() => follow(), [row])
}
