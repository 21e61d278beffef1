import './skeleton.css'

/** A placeholder for content that is loading. */
export function Skeleton({
  width = '100%',
  height = 12,
}: {
  width?: string | number
  height?: string | number
}) {
  return <span className="skeleton" style={{ width, height }} aria-hidden="true" />
}

/** Placeholders for lines of text of uneven length. */
export function SkeletonLines({ count }: { count: number }) {
  return (
    <div className="skeleton-lines" role="status" aria-label="Loading">
      {Array.from({ length: count }, (_, index) => (
        <Skeleton key={index} width={`${90 - ((index * 37) % 45)}%`} />
      ))}
    </div>
  )
}
