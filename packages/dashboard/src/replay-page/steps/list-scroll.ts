import type { Virtualizer } from '@tanstack/react-virtual'
import { useEffectEvent, useLayoutEffect, useState } from 'react'
import { useReplay } from '../playback/replay-context.ts'

export const ROW_HEIGHT = 32

/** When the list has not been scrolled for so long, its place is compared with what was reported. */
const REST_MS = 150

type List = Virtualizer<HTMLDivElement, Element>
type Report = (offsetPx: number, isScrolling: boolean) => void

type ListScroll = {
  /** For the virtualizer's `observeElementOffset`. */
  observe: (list: List, report: Report) => (() => void) | undefined
  scrollTo: (offsetPx: number) => void
}

/**
 * Tells the virtualizer where the list is. What the page scrolls itself is reported at once: reading it back in the event would force
 * a second layout in each frame of a drag.
 */
export function useListScroll(): ListScroll {
  const [scroll] = useState(createListScroll)
  return scroll
}

function createListScroll(): ListScroll {
  let element: HTMLElement | null = null
  let report: Report | undefined
  let hasScrolledItself = false
  let timer: ReturnType<typeof setTimeout> | undefined
  const read = (isScrolling: boolean) => {
    hasScrolledItself = false
    if (element !== null) report?.(element.scrollTop, isScrolling)
  }
  const readAtRest = () => {
    clearTimeout(timer)
    timer = setTimeout(() => read(false), REST_MS)
  }
  const onScroll = () => {
    if (hasScrolledItself) hasScrolledItself = false
    else read(true)
    readAtRest()
  }
  return {
    observe: (list, onChange) => {
      element = list.scrollElement
      if (element === null) return undefined
      const observed = element
      report = onChange
      read(false)
      observed.addEventListener('scroll', onScroll, { passive: true })
      return () => {
        observed.removeEventListener('scroll', onScroll)
        clearTimeout(timer)
      }
    },
    scrollTo: (offsetPx) => {
      if (element === null) return
      hasScrolledItself = true
      element.scrollTop = offsetPx
      report?.(offsetPx, false)
      readAtRest()
    },
  }
}

/**
 * Keeps the current row in view: at the edge while it moves on, in the middle when it jumps. Rows have a fixed height,
 * so nothing is measured. The list scrolls before React updates it: scrolling afterwards would force a second layout in
 * each frame of a drag.
 */
export function useKeepInView(
  list: List,
  scrollTo: (offsetPx: number) => void,
  currentRow: () => number,
): void {
  const { player } = useReplay()
  const follow = useEffectEvent(() => {
    const row = currentRow()
    const heightPx = list.scrollRect?.height || (list.scrollElement?.clientHeight ?? 0)
    if (row < 0 || heightPx === 0) return
    const topPx = list.scrollOffset ?? 0
    const rowPx = row * ROW_HEIGHT
    const isAbove = rowPx < topPx
    const isBelow = rowPx + ROW_HEIGHT > topPx + heightPx
    if (!isAbove && !isBelow) return
    const isNear = rowPx > topPx - heightPx / 2 && rowPx < topPx + heightPx * 1.5
    const nearPx = isAbove ? rowPx - ROW_HEIGHT : rowPx + 2 * ROW_HEIGHT - heightPx
    const lastPx = Math.max(0, list.options.count * ROW_HEIGHT - heightPx)
    scrollTo(Math.round(Math.min(Math.max(0, isNear ? nearPx : rowPx - heightPx / 2), lastPx)))
  })
  useLayoutEffect(() => player.subscribe(() => follow()), [player])
  const row = currentRow()
  useLayoutEffect(() => follow(), [row])
}
