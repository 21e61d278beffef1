import { MAX_TIME_NS, MIN_TIME_NS } from './limits.ts'

/** Why a time cannot be right; null when it can. */
export function findTimeFault(what: string, timeNs: bigint): string | null {
  if (timeNs >= MIN_TIME_NS && timeNs < MAX_TIME_NS) return null
  const year = new Date(Number(timeNs / 1_000_000n)).getUTCFullYear()
  return `${what} ${timeNs} is in the year ${year}; times are nanoseconds since 1970-01-01 UTC`
}
