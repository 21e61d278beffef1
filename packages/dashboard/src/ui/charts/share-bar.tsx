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
