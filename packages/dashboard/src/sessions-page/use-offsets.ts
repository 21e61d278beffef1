import { useEffect, useLayoutEffect, useState, type RefObject } from 'react'

/** Where the rows begin in the scroller, and how much of its top what sticks there covers. */
export function useOffsets(
  scroller: RefObject<HTMLElement | null>,
  isThere: boolean,
): { list: number; sticky: number; bar: number } {
  const [offsets, setOffsets] = useState({ list: 0, sticky: 0, bar: 0 })
  useLayoutEffect(() => {
    const element = scroller.current
    if (element === null || !isThere) return
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
  }, [scroller, isThere])
  return offsets
}

/** Closer to the top than this, a scroll was not meant. */
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
