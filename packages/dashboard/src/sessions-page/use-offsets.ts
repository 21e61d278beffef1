import { useEffect, useLayoutEffect, useState, type RefObject } from 'react'

/** The offset of the first row in the scroller, and the heights of the sticky headers. */
export function useOffsets(
  scroller: RefObject<HTMLElement | null>,
  hasRows: boolean,
): { list: number; sticky: number; bar: number } {
  const [offsets, setOffsets] = useState({ list: 0, sticky: 0, bar: 0 })
  useLayoutEffect(() => {
    const element = scroller.current
    if (element === null || !hasRows) return
    const measure = () => {
      const bar = element.querySelector<HTMLElement>('.sessions-bar')?.offsetHeight ?? 0
      const head = element.querySelector<HTMLElement>('.session-head')?.offsetHeight ?? 0
      const list = element.querySelector<HTMLElement>('.session-rows')?.offsetTop ?? 0
      setOffsets((before) =>
        before.list === list && before.bar === bar ? before : { list, bar, sticky: bar + head },
      )
    }
    measure()
    const observer = new ResizeObserver(measure)
    for (const part of element.querySelectorAll('.sessions-above, .sessions-bar')) observer.observe(part)
    return () => observer.disconnect()
  }, [scroller, hasRows])
  return offsets
}

/** Scrolling less than this does not count. */
const TOP_PX = 24

export function useIsScrolled(scroller: RefObject<HTMLElement | null>): boolean {
  const [isScrolled, setIsScrolled] = useState(false)
  useEffect(() => {
    const element = scroller.current
    if (element === null) return
    const onScroll = () => setIsScrolled(element.scrollTop > TOP_PX)
    element.addEventListener('scroll', onScroll, { passive: true })
    return () => element.removeEventListener('scroll', onScroll)
  }, [scroller])
  return isScrolled
}
