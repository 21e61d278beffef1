import { useLayoutEffect, useState, type RefObject } from 'react'

/** The width of an element in whole pixels; 0 before it is rendered. */
export function useWidth(element: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0)
  useLayoutEffect(() => {
    const target = element.current
    if (target === null) return
    setWidth(Math.round(target.getBoundingClientRect().width))
    const observer = new ResizeObserver(([entry]) => {
      if (entry !== undefined) setWidth(Math.round(entry.contentRect.width))
    })
    observer.observe(target)
    return () => observer.disconnect()
  }, [element])
  return width
}
