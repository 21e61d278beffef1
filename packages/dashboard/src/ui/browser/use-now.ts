import { useSyncExternalStore } from 'react'

const TICK_MS = 10_000

const listeners = new Set<() => void>()
let now = Date.now()
let timer: ReturnType<typeof setInterval> | undefined

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  timer ??= setInterval(() => {
    now = Date.now()
    for (const notify of listeners) notify()
  }, TICK_MS)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

function read(): number {
  // Without listeners the clock stands still.
  if (timer === undefined) now = Date.now()
  return now
}

/** The current time, updated every ten seconds; one clock for every age on the page. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, read)
}
