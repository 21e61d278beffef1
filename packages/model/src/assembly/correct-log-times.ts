import { WALL_CLOCK } from '../converters/agentops-log-text.ts'
import type { SessionLog } from './present-step.ts'

const MINUTE_MS = 60_000
/** Allows for clock differences and for output just before the first step. */
const SLACK_MS = MINUTE_MS
/** Most time zones are whole hours apart; all are multiples of 15 minutes. */
const zoneStepsMs = [60 * MINUTE_MS, 30 * MINUTE_MS, 15 * MINUTE_MS]

/**
 * Corrects records whose sender wrote local times without a zone: finds the time zone that moves them into the time
 * span of the session.
 */
export function correctLogTimes(
  logs: readonly SessionLog[],
  steps: readonly { startedAtMs: number; endedAtMs: number | null }[],
): SessionLog[] {
  const times = logs.filter(isWallClock).map((log) => log.atMs)
  const starts = steps.map((step) => step.startedAtMs).filter((ms) => ms > 0)
  if (times.length === 0 || starts.length === 0) return [...logs]
  const start = lowest(starts)
  const end = highest([start, ...steps.map((step) => step.endedAtMs ?? step.startedAtMs)])
  const offsets = zoneStepsMs.map((stepMs) => Math.floor((end + SLACK_MS - highest(times)) / stepMs) * stepMs)
  const first = lowest(times)
  const offsetMs = offsets.find((offset) => first + offset >= start - SLACK_MS) ?? offsets.at(-1)!
  return logs.map((log) => (isWallClock(log) ? { ...log, atMs: log.atMs + offsetMs } : log))
}

function isWallClock({ content }: SessionLog): boolean {
  return content?.attributes[WALL_CLOCK] === true
}

function lowest(values: readonly number[]): number {
  return values.reduce((least, value) => Math.min(least, value), Infinity)
}

function highest(values: readonly number[]): number {
  return values.reduce((most, value) => Math.max(most, value), -Infinity)
}
