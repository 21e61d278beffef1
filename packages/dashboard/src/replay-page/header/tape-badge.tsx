import { CassetteTape, CircleSlash } from 'lucide-react'
import { countOf, shortSessionId, visibleText } from '@playhead/model'
import type { LoadedSession } from '../../api/session-source.ts'
import { Popover } from '../../ui/controls/menu.tsx'
import { CodeBlock } from '../../ui/data/code-block.tsx'
import { useReplay } from '../playback/replay-context.ts'
import './tape-badge.css'

const REASONS_SHOWN = 12

/** Whether the session can be run again from its tape, and why not. */
export function TapeBadge() {
  const { tapeGaps, timeline } = useReplay()
  if (tapeGaps === undefined || timeline.steps.length === 0) return null
  return tapeGaps.length === 0 ? <CanRerun id={timeline.session.id} /> : <CanNotRerun gaps={tapeGaps} />
}

function CanRerun({ id }: { id: string }) {
  return (
    <Popover
      label="Re-run"
      align="start"
      trigger={
        <button type="button" className="tape-badge">
          <CassetteTape size={14} aria-hidden="true" />
          Can be re-run
        </button>
      }
    >
      <div className="tape-reasons">
        <p>Every answer that this session got is on its tape. Run it again without a network:</p>
        <CodeBlock text={`npx playhead rerun ${shortSessionId(id)}`} label="command" />
      </div>
    </Popover>
  )
}

function CanNotRerun({ gaps }: { gaps: NonNullable<LoadedSession['tapeGaps']> }) {
  const { goTo } = useReplay()
  const left = gaps.length - REASONS_SHOWN
  return (
    <Popover
      label="Why it can't be re-run"
      align="start"
      trigger={
        <button type="button" className="tape-badge is-missing">
          <CircleSlash size={14} aria-hidden="true" />
          Can’t be re-run
        </button>
      }
    >
      <div className="tape-reasons">
        <p>{countOf(gaps.length, 'answer')} can’t be taken from the tape:</p>
        <ul>
          {gaps.slice(0, REASONS_SHOWN).map(({ stepId, sentence }, index) => (
            <li key={index}>
              {visibleText(sentence)}
              <button type="button" className="long-text-more" onClick={() => goTo(stepId)}>
                Show
              </button>
            </li>
          ))}
        </ul>
        {left > 0 && <p className="dim">and {left.toLocaleString('en-US')} more</p>}
      </div>
    </Popover>
  )
}
