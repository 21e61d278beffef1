import { useSyncExternalStore, useEffect } from 'react'
import { useReplay } from './replay-context.ts'
import type { Player } from './player.ts'

/** What of the replay page is in the URL: which step, at which moment, which tab, what is searched for; and the project. */
export type ReplaySearch = { step?: string; t?: number; tab?: string; q?: string; project?: string }

export function replaySearch(search: Record<string, unknown>): ReplaySearch {
  const time = Number(search.t)
  return {
    ...textOf(search, 'step'),
    ...(search.t !== undefined && Number.isFinite(time) && time >= 0 && { t: time }),
    ...textOf(search, 'tab'),
    ...textOf(search, 'q'),
    ...textOf(search, 'project'),
  }
}

/** The router reads a step id of digits as a number. */
function textOf(search: Record<string, unknown>, name: keyof ReplaySearch): { [name: string]: string } {
  const value = search[name]
  if (typeof value === 'number') return { [name]: String(value) }
  return typeof value === 'string' && value !== '' ? { [name]: value } : {}
}

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

/** Browsers refuse an address that changes more than about six times a second. */
const WRITTEN_EVERY_MS = 400

type Place = Pick<ReplaySearch, 'step' | 't'>

/** Which step and moment a link to the present place names. A playhead at a step's start needs no moment of its own. */
export function placeOf(player: Player): Place {
  const { stepId, positionMs, motion } = player.getState()
  if (motion === 'following' || stepId === undefined) return {}
  const position = player.timeline.positionOf.get(stepId)
  const isAtStart = position !== undefined && player.timeline.startsMs[position] === positionMs
  return { step: stepId, ...(!isAtStart && { t: Math.round(positionMs) }) }
}

/** Keeps step and moment in the address, and goes where the address says when somebody else changes it. */
export function usePlaceInAddress(player: Player, location: ReplayLocation): void {
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    let last = keyOf(placeOf(player))
    let written = keyOf(location.getSearch())
    const write = () => {
      timer = undefined
      const { step: _step, t: _t, ...rest } = location.getSearch()
      const place = placeOf(player)
      written = keyOf(place)
      location.replace({ ...rest, ...place })
    }
    const onMove = () => {
      // What is passed by is no place; where the playhead is let go is one.
      if (player.getState().motion === 'scrubbing') return
      const key = keyOf(placeOf(player))
      if (key === last) return
      last = key
      timer ??= setTimeout(write, WRITTEN_EVERY_MS)
    }
    const onAddress = () => {
      const search = location.getSearch()
      if (keyOf(search) === written || timer !== undefined) return
      written = keyOf(search)
      goTo(player, search)
    }
    const stops = [player.subscribe(onMove), location.subscribe(onAddress)]
    return () => {
      for (const stop of stops) stop()
      clearTimeout(timer)
    }
  }, [player, location])
}

function goTo(player: Player, { step, t }: Place): void {
  if (step !== undefined) player.select(step)
  if (t !== undefined) player.seek(t)
}

function keyOf({ step, t }: Place): string {
  return `${step ?? ''} ${t ?? ''}`
}
