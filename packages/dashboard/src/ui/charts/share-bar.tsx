import { formatPercent } from '@playhead/model'
import './share-bar.css'

/** A bar filled to a share from 0 to 1. Hidden from screen readers: the number next to it says the same. */
export function ShareBar({ share, color = 'var(--accent)' }: { share: number; color?: string }) {
  const width = `${Math.max(0, Math.min(1, share)) * 100}%`
  return (
    <span className="share-bar" aria-hidden="true">
      <span style={{ width, background: color }} />
    </span>
  )
}

/** "0%", "0.4%", "15%", "99.9%", "100%": one decimal where a whole number would hide a difference. */
export function formatShare(share: number): string {
  const percent = share * 100
  const isFine = (percent > 0 && percent < 9.95) || (percent > 99 && percent < 100)
  return isFine ? formatPercent(Math.max(0.001, Math.min(0.999, share)), 1) : formatPercent(share)
}
