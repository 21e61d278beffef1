import { formatShare } from '../ui/charts/format-share.ts'

/** How a figure changed from the period before. */
export type Change =
  | { kind: 'none-before' }
  | { kind: 'same' }
  | { kind: 'up' | 'down'; text: string; isLarge: boolean }

/** A change below this is noise. */
const SMALLEST = 0.005
const LARGE = 0.2

/** As a share of what it was: "12 %", "3.4×" where a share would be a monster. */
export function changeOf(now: number | null, before: number | null): Change {
  if (now === null || before === null || before === 0) return { kind: 'none-before' }
  const ratio = now / before - 1
  if (Math.abs(ratio) < SMALLEST) return { kind: 'same' }
  const text = ratio >= 2 ? `${(ratio + 1).toFixed(1)}×` : formatShare(Math.abs(ratio))
  return { kind: ratio > 0 ? 'up' : 'down', text, isLarge: Math.abs(ratio) >= LARGE }
}

/** For figures that are shares themselves: in points. */
export function pointsOf(now: number | null, before: number | null): Change {
  if (now === null || before === null) return { kind: 'none-before' }
  const points = (now - before) * 100
  if (Math.abs(points) < 0.05) return { kind: 'same' }
  const size = Math.abs(points)
  return {
    kind: points > 0 ? 'up' : 'down',
    text: `${size.toFixed(size < 10 ? 1 : 0)} points`,
    isLarge: size >= 5,
  }
}
