/** One value for each bucket of a chart; null where there is none. */
export type Series = { name: string; color: string; values: readonly (number | null)[] }

/** The maximum of a chart: of the sums if its series are stacked. */
export function highestOf(series: readonly Series[], isStacked: boolean): number {
  const count = Math.max(0, ...series.map(({ values }) => values.length))
  let highest = 0
  for (let index = 0; index < count; index++) {
    const values = series.map(({ values: all }) => all[index] ?? 0)
    highest = Math.max(
      highest,
      isStacked ? values.reduce((sum, value) => sum + value, 0) : Math.max(...values),
    )
  }
  return highest
}

export type Bar = { series: number; index: number; bottom: number; height: number }

/** Stacked bars, as shares of the chart's height. */
export function stackBars(series: readonly Series[], highest: number): Bar[] {
  if (highest <= 0) return []
  const bars: Bar[] = []
  const bottoms: number[] = []
  series.forEach(({ values }, which) => {
    values.forEach((value, index) => {
      if (value === null || value <= 0) return
      const bottom = bottoms[index] ?? 0
      bars.push({ series: which, index, bottom, height: value / highest })
      bottoms[index] = bottom + value / highest
    })
  })
  return bars
}

/**
 * A step line as an SVG path. Each bucket is one unit wide and has a horizontal segment, so a single value is still visible;
 * the line breaks where there is no value.
 */
export function stepPath(values: readonly (number | null)[], highest: number, height: number): string {
  let path = ''
  let isOpen = false
  values.forEach((value, index) => {
    if (value === null) {
      isOpen = false
      return
    }
    const level = round(height - (highest <= 0 ? 0 : value / highest) * height)
    path += isOpen ? `V${level}H${index + 1}` : `M${index} ${level}H${index + 1}`
    isOpen = true
  })
  return path
}

/** The buckets that a drag covers; `from` and `to` are shares of the width. */
export function brushedBuckets(
  from: number,
  to: number,
  count: number,
): { first: number; last: number } | undefined {
  if (count === 0) return undefined
  const bucketAt = (share: number) => Math.max(0, Math.min(count - 1, Math.floor(share * count)))
  const [left, right] = from <= to ? [from, to] : [to, from]
  // A drag that ends exactly between two buckets does not include the second.
  return { first: bucketAt(left), last: Math.max(bucketAt(left), bucketAt(right - 1e-9)) }
}

function round(value: number): number {
  return Math.round(value * 100) / 100
}
