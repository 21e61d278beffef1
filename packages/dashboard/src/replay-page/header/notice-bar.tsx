import { Info, X } from 'lucide-react'
import { useMemo, useState } from 'react'
import { visibleText } from '@playhead/model'
import { IconButton } from '../../ui/controls/button.tsx'
import { useReplay } from '../playback/replay-context.ts'
import { findNotices } from './session-notices.ts'
import './notice-bar.css'

/** What is missing from this session. */
export function NoticeBar() {
  const { timeline, goTo } = useReplay()
  const [isClosed, setIsClosed] = useState(false)
  const notices = useMemo(() => findNotices(timeline), [timeline.steps, timeline.session])
  if (notices.length === 0 || isClosed) return null
  return (
    <aside className="notice-bar" aria-label="What is missing">
      <Info size={14} aria-hidden="true" />
      <ul>
        {notices.map(({ id, text, stepId }) => (
          <li key={id}>
            {visibleText(text)}
            {stepId !== undefined && (
              <button type="button" className="long-text-more" onClick={() => goTo(stepId)}>
                show
              </button>
            )}
          </li>
        ))}
      </ul>
      <IconButton label="Hide what is missing" onClick={() => setIsClosed(true)}>
        <X size={14} aria-hidden="true" />
      </IconButton>
    </aside>
  )
}
