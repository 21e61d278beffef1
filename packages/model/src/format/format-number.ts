const grouped = new Intl.NumberFormat('en')
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })
const SHOWN_IN_FULL = 100_000
const byteUnits = ['B', 'KB', 'MB', 'GB', 'TB'] as const

/** "950", "12,345", "1.2M". */
export function formatCount(count: number): string {
  return count < SHOWN_IN_FULL ? grouped.format(count) : compact.format(count)
}

/** "3 sessions", "1 session". */
export function countOf(count: number, noun: string): string {
  return `${grouped.format(count)} ${count === 1 ? noun : `${noun}s`}`
}

/** "20%", or "19.6%" with one digit. */
export function formatPercent(share: number, digits = 0): string {
  return `${(share * 100).toFixed(digits)}%`
}

/** "512 B", "12.3 KB", "4.0 GB"; a kilobyte has 1,000 bytes. */
export function formatBytes(bytes: number): string {
  let [size, unit] = [bytes, 0]
  while (size >= 999.95 && unit < byteUnits.length - 1) {
    size /= 1000
    unit += 1
  }
  return `${unit === 0 ? size : size.toFixed(1)} ${byteUnits[unit]}`
}

/** "$12.34", "$0.50", "$0.017", "$0.0031": cents, or two significant digits. */
export function formatCost(dollars: number): string {
  if (dollars === 0) return '$0'
  if (dollars >= 1 || dollars < 0) return `$${dollars.toFixed(2)}`
  const decimals = Math.max(2, 1 - Math.floor(Math.log10(dollars)))
  const text = dollars.toFixed(Math.min(decimals, 12)).replace(/0+$/, '')
  return `$${text.padEnd(4, '0')}`
}

/** As `formatCost`, and says what is missing: "unknown (no price for my-model)", "unknown, no usage reported". */
export function describeCost(
  cost: number | null,
  unpricedModels: readonly string[],
  noUsage?: string,
): string {
  const prices = unpricedModels.length > 0 ? ` (no price for ${unpricedModels.join(', ')})` : ''
  const missing = `${prices}${noUsage === undefined ? '' : `, ${noUsage}`}`
  if (missing === '') return cost === null ? 'none' : formatCost(cost)
  return `${cost === null ? '' : `${formatCost(cost)} + `}unknown${missing}`
}
