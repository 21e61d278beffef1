import { Skeleton } from '../ui/data/skeleton.tsx'
import './session-table.css'

const ROWS = 12

/** The table before its first page is there: rows of the same height. */
export function TableSkeleton() {
  return (
    <div className="session-table" role="status" aria-label="Loading sessions">
      {Array.from({ length: ROWS }, (_, index) => (
        <div key={index} className="session-skeleton">
          <Skeleton width={70} />
          <span>
            <Skeleton width={`${60 - ((index * 17) % 30)}%`} />
            <Skeleton width={`${40 - ((index * 13) % 20)}%`} height={10} />
          </span>
          <Skeleton width={160} />
        </div>
      ))}
    </div>
  )
}
