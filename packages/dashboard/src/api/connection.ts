import { useSyncExternalStore } from 'react'

const RETRY_MS = 1_500

let isUnreachable = false
let timer: ReturnType<typeof setTimeout> | undefined
const listeners = new Set<() => void>()
const recoveryListeners = new Set<() => void>()

/** Call when a request got no response: from then on the server is polled until it responds. */
export function reportUnreachable(): void {
  if (isUnreachable) return
  change(true)
  timer = setTimeout(() => void retry(), RETRY_MS)
}

/** Calls `listener` when the server responds again. Returns a function that unsubscribes. */
export function whenServerIsBack(listener: () => void): () => void {
  recoveryListeners.add(listener)
  return () => recoveryListeners.delete(listener)
}

/** Whether the server does not respond. */
export function useIsUnreachable(): boolean {
  return useSyncExternalStore(subscribe, () => isUnreachable)
}

/** Call when a live feed breaks: the server may be gone, or may have restarted already. */
export async function checkConnection(): Promise<void> {
  if (isUnreachable) return
  if (!(await isReachable())) reportUnreachable()
}

async function retry(): Promise<void> {
  clearTimeout(timer)
  if (!(await isReachable())) {
    timer = setTimeout(() => void retry(), RETRY_MS)
    return
  }
  change(false)
  for (const listener of recoveryListeners) listener()
}

async function isReachable(): Promise<boolean> {
  try {
    return (await fetch('/healthz', { cache: 'no-store' })).ok
  } catch {
    return false
  }
}

function change(to: boolean): void {
  isUnreachable = to
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
