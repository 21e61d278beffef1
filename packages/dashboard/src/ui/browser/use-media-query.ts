import { useSyncExternalStore } from 'react'

/** Whether the window is of a kind: `(max-width: 720px)`. */
export function useMediaQuery(query: string): boolean {
  return useSyncExternalStore(
    (listener) => {
      const media = matchMedia(query)
      media.addEventListener('change', listener)
      return () => media.removeEventListener('change', listener)
    },
    () => matchMedia(query).matches,
  )
}

/** A phone held upright: cards instead of columns. */
export const NARROW = '(max-width: 720px)'
