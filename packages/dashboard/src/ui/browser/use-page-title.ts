import { useEffect } from 'react'

/** Sets the title of the browser tab. */
export function usePageTitle(title: string | undefined): void {
  useEffect(() => {
    document.title = title === undefined ? 'Playhead' : `${title} · Playhead`
  }, [title])
}
