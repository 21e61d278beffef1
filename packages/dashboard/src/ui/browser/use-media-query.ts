import { useSyncExternalStore } from 'react'

/** Whether the window matches a media query such as `(max-width: 720px)`. */
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

/** A phone in portrait mode: cards instead of columns. */
export const NARROW = '(max-width: 720px)'
