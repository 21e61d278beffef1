import { parseTime } from '@playhead/model'

/** A time range as in addresses: ages ("24h") or ISO times. Without either it is all time. */
export type TimeRange = { from?: string; to?: string }

export function timeRange(from: string | undefined, to: string | undefined): TimeRange {
  return { ...(from !== undefined && { from }), ...(to !== undefined && { to }) }
}

export const timePresets = [
  { value: '1h', label: '1h', title: 'Last hour' },
  { value: '24h', label: '24h', title: 'Last 24 hours' },
  { value: '7d', label: '7d', title: 'Last 7 days' },
  { value: '30d', label: '30d', title: 'Last 30 days' },
  { value: 'all', label: 'All', title: 'All time' },
] as const

export type TimePreset = (typeof timePresets)[number]['value']

/** The preset that equals a range, if any. */
export function presetOf({ from, to }: TimeRange): TimePreset | undefined {
  if (to !== undefined) return undefined
  if (from === undefined) return 'all'
  return timePresets.find(({ value }) => value === from)?.value
}

/** The range in milliseconds. Invalid ends are ignored. */
export function resolveRange(
  { from, to }: TimeRange,
  nowMs: number,
): { fromMs: number | undefined; toMs: number } {
  return {
    fromMs: from === undefined ? undefined : parseTime(from, nowMs),
    toMs: (to === undefined ? undefined : parseTime(to, nowMs)) ?? nowMs,
  }
}

/** The previous period of the same length; undefined for all time. */
export function previousRange(range: TimeRange, nowMs: number): { from: string; to: string } | undefined {
  const { fromMs, toMs } = resolveRange(range, nowMs)
  if (fromMs === undefined || toMs <= fromMs) return undefined
  return { from: isoTime(fromMs - (toMs - fromMs)), to: isoTime(fromMs) }
}

export function isoTime(timeMs: number): string {
  return new Date(timeMs).toISOString()
}

/** "14 Nov, 10:05 – 11:30"; the date is repeated only if it differs. */
export function describeRange({ fromMs, toMs }: { fromMs: number | undefined; toMs: number }): string {
  if (fromMs === undefined) return `until ${moment.format(toMs)}`
  return moment.formatRange(fromMs, toMs)
}

const moment = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
})
