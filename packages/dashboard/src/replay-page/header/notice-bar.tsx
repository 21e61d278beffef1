import { Info, X } from 'lucide-react'
import { useMemo, useState } from 'react'
import { visibleText, formatDuration, NO_OUTPUT, NO_USAGE, type MissingCosts } from '@playhead/model'
import { IconButton } from '../../ui/controls/button.tsx'
import { useReplay } from '../playback/replay-context.ts'
import type { Timeline } from '../playback/timeline.ts'
import './notice-bar.css'

/** Warnings about data that is missing from the session, or was changed later. */
export function NoticeBar() {
  const { timeline, missingCosts, goTo } = useReplay()
  const [isClosed, setIsClosed] = useState(false)
  const notices = useMemo(
    () => findNotices(timeline, missingCosts),
    [timeline.steps, timeline.session, missingCosts],
  )
  if (notices.length === 0 || isClosed) return null
  return (
    <aside className="notice-bar" aria-label="Notices">
      <Info size={14} aria-hidden="true" />
      <ul>
        {notices.map(({ id, text, stepId }) => (
          <li key={id}>
            {visibleText(text)}
            {stepId !== undefined && (
              <button type="button" className="long-text-more" onClick={() => goTo(stepId)}>
                Show
              </button>
            )}
          </li>
        ))}
      </ul>
      <IconButton label="Dismiss" onClick={() => setIsClosed(true)}>
        <X size={14} aria-hidden="true" />
      </IconButton>
    </aside>
  )
}

type Notice = { id: string; text: string; stepId?: string }

export function findNotices(timeline: Timeline, missingCosts: MissingCosts): Notice[] {
  const { session, steps, endsMs } = timeline
  const notices: Notice[] = []
  const add = (id: string, text: string, stepId?: string) =>
    notices.push({ id, text, ...(stepId !== undefined && { stepId }) })
  if (steps.length === 0) add('empty', 'No steps were recorded.')
  if (session.endState === 'lost')
    add('lost', `The session never ended. Nothing arrived after ${formatDuration(timeline.durationMs)}.`)
  if (session.endState !== 'running') {
    let openCount = 0
    for (const endMs of endsMs) if (endMs === Infinity) openCount += 1
    if (openCount > 0)
      add('open', `${count(openCount, 'step')} never ended.`, steps[endsMs.lastIndexOf(Infinity)]!.id)
  }
  const orphan = steps.find((step) => step.isOrphan === true)
  const orphans = steps.reduce((total, step) => total + (step.isOrphan === true ? 1 : 0), 0)
  if (orphan !== undefined)
    add(
      'orphans',
      `${count(orphans, 'step')} ${orphans === 1 ? 'refers' : 'refer'} to a parent that never arrived.`,
      orphan.id,
    )
  const { unpricedModels, callsWithoutUsage, callsWithoutOutput } = missingCosts
  if (unpricedModels.length > 0)
    add('prices', `No price is known for ${unpricedModels.join(', ')}, so the cost is incomplete.`)
  if (callsWithoutUsage.length > 0)
    add(
      'usage',
      `The cost is incomplete: ${count(callsWithoutUsage.length, 'call')} with ${NO_USAGE}.`,
      callsWithoutUsage[0]!.id,
    )
  if (callsWithoutOutput.length > 0)
    add(
      'output',
      `The cost is incomplete: ${count(callsWithoutOutput.length, 'call')} with ${NO_OUTPUT}.`,
      callsWithoutOutput[0]!.id,
    )
  const changed = steps.filter((step) => step.changes !== undefined)
  if (changed.length > 0)
    add('changed', `${count(changed.length, 'step')} changed after the end.`, changed[0]!.id)
  const cut = steps.find((step) => step.isTruncated === true)
  if (cut !== undefined) add('cut', 'Part of the content was truncated before it was sent.', cut.id)
  return notices
}

function count(number: number, noun: string): string {
  return `${number.toLocaleString('en-US')} ${noun}${number === 1 ? '' : 's'}`
}
