import type { Step } from '@playhead/model'
import { readableText } from '../../ui/data/readable-text.ts'
import { usePlayerState } from '../playback/replay-context.ts'
import { countArrived, splitStream } from './streamed-text.ts'
import { useIsAhead } from '../playback/shown-step.ts'

/** How many pieces of an answer had arrived, while the playhead is inside of the call; undefined when it shall be shown whole. */
export function useArrivedCount(step: Step): number | undefined {
  const isAhead = useIsAhead(step)
  const count = usePlayerState(({ positionMs }) => countArrived(step, positionMs))
  return isAhead ? count : undefined
}

/** A streamed answer as it stood at the playhead, growing in the rhythm in which it came; what was to come is dimmed. */
export function StreamedAnswer({ step, arrivedCount }: { step: Step; arrivedCount: number }) {
  const isPlaying = usePlayerState(({ motion }) => motion === 'playing' || motion === 'following')
  const { arrived, ahead } = splitStream(step, arrivedCount)
  return (
    <div className="streamed" aria-busy={ahead !== ''}>
      {readableText(arrived)}
      <span className="streamed-caret" aria-hidden="true" />
      {!isPlaying && <span className="is-ahead">{readableText(ahead)}</span>}
    </div>
  )
}
