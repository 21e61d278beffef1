/**
 * Tokens of one call or the sum of many. Unreported fields are absent, never 0. `input` includes cache reads and
 * writes, `output` includes reasoning; the other fields are parts of these two.
 */
export type Usage = {
  input?: number
  output?: number
  cacheRead?: number
  cacheWrite?: number
  cacheWrite5m?: number
  cacheWrite1h?: number
  reasoning?: number
  audioInput?: number
  audioOutput?: number
  imageInput?: number
  total?: number
}

/**
 * `call`: counted. `rollup`: the sum of steps below. `duplicate`: the same call, reported by another instrumentation,
 * is counted instead.
 */
export type UsageScope = 'call' | 'rollup' | 'duplicate'

export const usageFields = [
  'input',
  'output',
  'cacheRead',
  'cacheWrite',
  'cacheWrite5m',
  'cacheWrite1h',
  'reasoning',
  'audioInput',
  'audioOutput',
  'imageInput',
  'total',
] as const satisfies readonly (keyof Usage)[]

/** Adds a usage to a sum; a field is absent only when both lack it. */
export function addUsage(sum: Usage, more: Usage): void {
  for (const field of usageFields) {
    const value = more[field]
    if (value !== undefined) sum[field] = (sum[field] ?? 0) + value
  }
}

export function totalTokens({ input, output, total }: Usage): number | undefined {
  if (total !== undefined) return total
  return input === undefined && output === undefined ? undefined : (input ?? 0) + (output ?? 0)
}

/** True when at least one field was reported. */
export function hasUsage(usage: Usage | undefined): usage is Usage {
  return usage !== undefined && usageFields.some((field) => usage[field] !== undefined)
}

/**
 * Whether a usage has tokens, but neither says nor implies how many of them are output. A total that equals the input
 * implies nothing: readers fill it in.
 */
export function isOutputMissing(usage: Usage | undefined): boolean {
  if (!hasUsage(usage)) return false
  const { input, output, total } = usage
  return output === undefined && (input === undefined || total === undefined || total <= input)
}
