import type { Step } from '@playhead/model'
import { readableText } from '../../ui/data/readable-text.ts'
import { usePlayerState } from '../playback/replay-context.ts'
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

type StreamedText = {
  /** What had arrived. */
  arrived: string
  /** What was still to come. */
  ahead: string
}

/** How many pieces of a streamed answer were there at a moment; undefined when its rhythm was not recorded. */
export function countArrived(step: Step, timeMs: number): number | undefined {
  const chunks = step.streaming?.chunks
  if (chunks === undefined || chunks.length === 0) return undefined
  const sinceStartMs = timeMs - step.offsetMs
  let low = 0
  let high = chunks.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (chunks[middle]![0] <= sinceStartMs) low = middle + 1
    else high = middle
  }
  return low
}

export function splitStream(step: Step, arrivedCount: number): StreamedText {
  const texts = (step.streaming?.chunks ?? []).map(([, text]) => text)
  return { arrived: texts.slice(0, arrivedCount).join(''), ahead: texts.slice(arrivedCount).join('') }
}
