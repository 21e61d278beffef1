import { useSyncExternalStore } from 'react'

const ASK_AGAIN_MS = 1_500

let isLost = false
let timer: ReturnType<typeof setTimeout> | undefined
const listeners = new Set<() => void>()
const onceBack = new Set<() => void>()

/** A request found nobody. From now on the server is asked whether it is there, until it is. */
export function reportUnreachable(): void {
  if (isLost) return
  change(true)
  timer = setTimeout(() => void askAgain(), ASK_AGAIN_MS)
}

/** Calls back when the server answers after it did not. Returns how to stop. */
export function whenServerIsBack(listener: () => void): () => void {
  onceBack.add(listener)
  return () => onceBack.delete(listener)
}

/** Whether the server does not answer. */
export function useIsServerLost(): boolean {
  return useSyncExternalStore(subscribe, () => isLost)
}

/** A feed that broke may be a server that is gone, or only a restart that is over already. */
export async function checkConnection(): Promise<void> {
  if (isLost) return
  if (!(await answers())) reportUnreachable()
}

async function askAgain(): Promise<void> {
  clearTimeout(timer)
  if (!(await answers())) {
    timer = setTimeout(() => void askAgain(), ASK_AGAIN_MS)
    return
  }
  change(false)
  for (const listener of onceBack) listener()
}

async function answers(): Promise<boolean> {
  try {
    return (await fetch('/healthz', { cache: 'no-store' })).ok
  } catch {
    return false
  }
}

function change(to: boolean): void {
  isLost = to
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
