/** "$12.34", "$0.50", "$0.017", "$0.0031": cents, or two digits that mean something. */
export function formatCost(dollars: number): string {
  if (dollars === 0) return '$0'
  if (dollars >= 1 || dollars < 0) return `$${dollars.toFixed(2)}`
  const decimals = Math.max(2, 1 - Math.floor(Math.log10(dollars)))
  const text = dollars.toFixed(Math.min(decimals, 12)).replace(/0+$/, '')
  return `$${text.padEnd(4, '0')}`
}

/** The same with what is missing from it: "unknown (no price for my-model)". */
export function describeCost(cost: number | null, unpricedModels: readonly string[]): string {
  const missing =
    unpricedModels.length > 0 ? `unknown (no price for ${unpricedModels.join(', ')})` : undefined
  if (cost === null) return missing ?? 'none'
  return missing === undefined ? formatCost(cost) : `${formatCost(cost)} + ${missing}`
}
