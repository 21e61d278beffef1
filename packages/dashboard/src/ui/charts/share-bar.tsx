import './share-bar.css'

/** A bar that is filled to a share from 0 to 1. The number beside it says the same, so it has no name. */
export function ShareBar({ share, color = 'var(--accent)' }: { share: number; color?: string }) {
  const width = `${Math.max(0, Math.min(1, share)) * 100}%`
  return (
    <span className="share-bar" aria-hidden="true">
      <span style={{ width, background: color }} />
    </span>
  )
}

/** "0 %", "0.4 %", "15 %", "100 %": a digit after the point where whole numbers would hide the difference. */
export function formatShare(share: number): string {
  const percent = share * 100
  const isFine = (percent > 0 && percent < 9.95) || (percent > 99 && percent < 100)
  return `${isFine ? Math.max(0.1, Math.min(99.9, percent)).toFixed(1) : Math.round(percent)} %`
}
