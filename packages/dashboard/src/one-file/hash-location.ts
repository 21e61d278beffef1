import {
  type ReplayLocation,
  replaySearch,
  type ReplaySearch,
} from '../replay-page/playback/replay-location.ts'

/** A file has no paths, so the session and the URL state are in the fragment. */
export function readHash(): { session: string | undefined; search: ReplaySearch } {
  const parameters = Object.fromEntries(new URLSearchParams(location.hash.slice(1)))
  return { session: parameters.session, search: replaySearch(parameters) }
}

export function hashOf(sessionId: string, search: ReplaySearch): string {
  const parameters = new URLSearchParams({ session: sessionId })
  for (const [name, value] of Object.entries(search)) parameters.set(name, String(value))
  return `#${parameters.toString()}`
}

export function createHashLocation(sessionId: string): ReplayLocation {
  const listeners = new Set<() => void>()
  const notify = () => {
    for (const listener of listeners) listener()
  }
  return {
    getSearch: () => readHash().search,
    subscribe: (listener) => {
      if (listeners.size === 0) addEventListener('hashchange', notify)
      listeners.add(listener)
      return () => {
        listeners.delete(listener)
        if (listeners.size === 0) removeEventListener('hashchange', notify)
      }
    },
    replace: (search) => {
      history.replaceState(null, '', hashOf(sessionId, search))
      notify()
    },
    linkTo: (search) => location.href.replace(/#.*$/, '') + hashOf(sessionId, search),
  }
}
