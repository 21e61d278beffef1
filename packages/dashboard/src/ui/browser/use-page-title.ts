import { useEffect } from 'react'

/** What the browser's tab says: first what tells this tab from the others. */
export function usePageTitle(title: string | undefined): void {
  useEffect(() => {
    document.title = title === undefined ? 'Playhead' : `${title} · Playhead`
  }, [title])
}
