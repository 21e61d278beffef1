import { useSyncExternalStore, useEffect } from 'react'
import { useReplay } from './replay-context.ts'
import type { Player } from './player.ts'

/** The URL state of the replay page. */
export type ReplaySearch = {
  step?: string
  t?: number
  tab?: string
  /** The path of a value in the step, such as `arguments.id`. */
  at?: string
  q?: string
  project?: string
  /** The query of the list that somebody goes through, as the API takes it. */
  review?: string
}

export function replaySearch(search: Record<string, unknown>): ReplaySearch {
  const time = Number(search.t)
  return {
    ...textOf(search, 'step'),
    ...(search.t !== undefined && Number.isFinite(time) && time >= 0 && { t: time }),
    ...textOf(search, 'tab'),
    ...textOf(search, 'at'),
    ...textOf(search, 'q'),
    ...textOf(search, 'project'),
    ...textOf(search, 'review'),
  }
}

/** The router parses a step id of digits as a number. */
function textOf(search: Record<string, unknown>, name: keyof ReplaySearch): { [name: string]: string } {
  const value = search[name]
  if (typeof value === 'number') return { [name]: String(value) }
  return typeof value === 'string' && value !== '' ? { [name]: value } : {}
}

/** Where the page keeps its URL state: the router's search, or the fragment of a file's URL. */
export type ReplayLocation = {
  getSearch: () => ReplaySearch
  subscribe: (listener: () => void) => () => void
  /** Adds no history entry: the back button leaves the page. */
  replace: (search: ReplaySearch) => void
  /** The full URL of this page in a given state. */
  linkTo: (search: ReplaySearch) => string
}

/** A part of the URL state. */
export function useReplaySearch<Value>(select: (search: ReplaySearch) => Value): Value {
  const { location } = useReplay()
  return useSyncExternalStore(location.subscribe, () => select(location.getSearch()))
}

/** Browsers throttle URL changes to about six a second. */
const WRITTEN_EVERY_MS = 400

type Place = Pick<ReplaySearch, 'step' | 't'>

/** The step and time for a link to the current place. At the start of a step, the step is enough. */
export function currentPlace(player: Player): Place {
  const { stepId, positionMs, motion } = player.getState()
  if (motion === 'following' || stepId === undefined) return {}
  const position = player.timeline.positionOf.get(stepId)
  const isAtStart = position !== undefined && player.timeline.startsMs[position] === positionMs
  return { step: stepId, ...(!isAtStart && { t: Math.round(positionMs) }) }
}

/** Keeps step and time in the URL, and moves the playhead when the URL changes. */
export function useLocationSync(player: Player, location: ReplayLocation): void {
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    let last = keyOf(currentPlace(player))
    let written = keyOf(location.getSearch())
    const write = () => {
      timer = undefined
      const { step, t: _t, at, ...rest } = location.getSearch()
      const place = currentPlace(player)
      written = keyOf(place)
      // A value is one of its step.
      location.replace({ ...rest, ...place, ...(at !== undefined && step === place.step && { at }) })
    }
    const onMove = () => {
      // Only the place where scrubbing ends is worth a URL.
      if (player.getState().motion === 'scrubbing') return
      const key = keyOf(currentPlace(player))
      if (key === last) return
      last = key
      timer ??= setTimeout(write, WRITTEN_EVERY_MS)
    }
    const onUrlChange = () => {
      const search = location.getSearch()
      if (keyOf(search) === written || timer !== undefined) return
      written = keyOf(search)
      goTo(player, search)
    }
    const stops = [player.subscribe(onMove), location.subscribe(onUrlChange)]
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
