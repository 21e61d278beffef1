import { useEffect } from 'react'
import type { Player } from './player.ts'
import type { ReplayLocation } from './replay-location.ts'
import type { ReplaySearch } from './replay-search.ts'

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
