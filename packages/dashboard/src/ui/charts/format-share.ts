/** "0 %", "0.4 %", "15 %", "100 %": a digit after the point where whole numbers would hide the difference. */
export function formatShare(share: number): string {
  const percent = share * 100
  const isFine = (percent > 0 && percent < 9.95) || (percent > 99 && percent < 100)
  return `${isFine ? Math.max(0.1, Math.min(99.9, percent)).toFixed(1) : Math.round(percent)} %`
}
