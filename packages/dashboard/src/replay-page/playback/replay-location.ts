import { useSyncExternalStore } from 'react'
import { useReplay } from './replay-context.ts'
import type { ReplaySearch } from './replay-search.ts'

/** Where the page keeps its place: the router's address, or the fragment of a file's. */
export type ReplayLocation = {
  getSearch: () => ReplaySearch
  subscribe: (listener: () => void) => () => void
  /** Never makes a new entry in the history: going back leaves the page. */
  replace: (search: ReplaySearch) => void
  /** The whole address of this page at a place. */
  linkTo: (search: ReplaySearch) => string
}

/** Something that the address says. */
export function useReplaySearch<Value>(select: (search: ReplaySearch) => Value): Value {
  const { location } = useReplay()
  return useSyncExternalStore(location.subscribe, () => select(location.getSearch()))
}
