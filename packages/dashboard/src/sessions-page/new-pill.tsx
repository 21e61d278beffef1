import { ArrowUp } from 'lucide-react'
import { MOST_ARRIVALS } from './use-live-list.ts'
import './new-pill.css'

/** Sessions that began while the list was held; a click shows them. */
export function NewPill({ count, onShow }: { count: number; onShow: () => void }) {
  return (
    <div className="new-pill" role="status">
      {count > 0 && (
        <button type="button" onClick={onShow}>
          <ArrowUp size={13} aria-hidden="true" />
          {count >= MOST_ARRIVALS ? `${MOST_ARRIVALS}+` : count} new
        </button>
      )}
    </div>
  )
}
