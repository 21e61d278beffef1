export type Range = { min?: number; isMinOpen?: boolean; max?: number; isMaxOpen?: boolean }

/** Parses a range of numbers: ">0.01", ">=1", "<5", "0.01..0.05", "3". */
export function numberRange(text: string): Range | undefined {
  return parseRange(text, (value) => (/^-?\d+(\.\d+)?(e-?\d+)?$/i.test(value) ? Number(value) : undefined))
}

/** Parses a range of durations to milliseconds: ">2s", "<500ms", "1m..5m", "250" (milliseconds). */
export function durationRange(text: string): Range | undefined {
  return parseRange(text, parseDuration)
}

/** A condition on a score: a range of its number, the word it must be, any value, or that there is none. */
export type ScoreFilter = { name: string; range?: Range; word?: string; isAbsent?: true }

/** Parses "helpful>=0.8", "helpful:0.5..0.8", "verdict=wrong", "helpful", "!verdict". */
export function parseScoreFilter(text: string): ScoreFilter | undefined {
  const [, not, name = '', operator, given = ''] =
    /^(!)?([^<>=:!]{1,100}?)\s*(?:(>=|<=|>|<|=|:)\s*(.+))?$/s.exec(text.trim()) ?? []
  if (name === '' || (not !== undefined && operator !== undefined)) return undefined
  if (not !== undefined) return { name, isAbsent: true }
  if (operator === undefined) return { name }
  if (/^(yes|true)$/i.test(given)) return { name, range: { min: 1, max: 1 } }
  if (/^(no|false)$/i.test(given)) return { name, range: { min: 0, max: 0 } }
  const range = numberRange(operator === ':' ? given : `${operator}${given}`)
  if (range !== undefined) return { name, range }
  return operator === '=' || operator === ':' ? { name, word: given } : undefined
}

function parseRange(text: string, parse: (value: string) => number | undefined): Range | undefined {
  const between = /^(.+?)\.\.(.+)$/.exec(text.trim())
  if (between !== null) {
    const [min, max] = [parse(between[1]!.trim()), parse(between[2]!.trim())]
    return min === undefined || max === undefined ? undefined : { min, max }
  }
  const [, operator = '', rest = ''] = /^(>=|<=|>|<|=)?\s*\$?(.*)$/.exec(text.trim()) ?? []
  const value = parse(rest.trim())
  if (value === undefined) return undefined
  if (operator.startsWith('>')) return { min: value, isMinOpen: operator === '>' }
  if (operator.startsWith('<')) return { max: value, isMaxOpen: operator === '<' }
  return { min: value, max: value }
}

const units: Record<string, number> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
}

/** Parses "250ms", "2s", "1.5m", "24h" or "7d" to milliseconds; a bare number is milliseconds. */
export function parseDuration(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)\s*(ms|s|min|m|h|d|w)?$/.exec(text.trim())
  return match === null ? undefined : Number(match[1]) * units[match[2] ?? 'ms']!
}

/** Parses an ISO time, milliseconds since 1970, or an age ("24h") to milliseconds since 1970. */
export function parseTime(text: string, nowMs: number): number | undefined {
  if (/^\d{12,14}$/.test(text)) return Number(text)
  if (/^\d+(\.\d+)?\s*(ms|s|min|m|h|d|w)$/.test(text)) return Math.round(nowMs - parseDuration(text)!)
  const time = /^\d{4}-\d{2}(-\d{2})?/.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(time) ? undefined : time
}
