import { visibleLines, type Step } from '@playhead/model'
import { usePlayerState } from '../playback/replay-context.ts'
import { useIsPlayheadInside } from '../playback/shown-step.ts'

/** How many chunks had arrived at the playhead; undefined when the answer is to be shown whole. */
export function useArrivedCount(step: Step): number | undefined {
  const isAhead = useIsPlayheadInside(step)
  const count = usePlayerState(({ positionMs }) => countArrived(step, positionMs))
  return isAhead ? count : undefined
}

/** A streamed answer as of the playhead, at the pace it arrived. Later text is dimmed. */
export function StreamedAnswer({ step, arrivedCount }: { step: Step; arrivedCount: number }) {
  const isPlaying = usePlayerState(({ motion }) => motion === 'playing' || motion === 'following')
  const { arrived, ahead } = splitStream(step, arrivedCount)
  return (
    <div className="streamed" aria-busy={ahead !== ''}>
      {visibleLines(arrived)}
      <span className="streamed-caret" aria-hidden="true" />
      {!isPlaying && <span className="is-ahead">{visibleLines(ahead)}</span>}
    </div>
  )
}

type StreamedText = {
  /** What had arrived. */
  arrived: string
  /** What was still to come. */
  ahead: string
}

/** How many chunks of an answer had arrived by a time; undefined when chunks were not recorded. */
export function countArrived(step: Step, timeMs: number): number | undefined {
  const chunks = step.streaming?.chunks
  if (chunks === undefined || chunks.length === 0) return undefined
  const next = chunks.findIndex(([atMs]) => atMs > timeMs - step.offsetMs)
  return next < 0 ? chunks.length : next
}

export function splitStream(step: Step, arrivedCount: number): StreamedText {
  const texts = (step.streaming?.chunks ?? []).map(([, text]) => text)
  return { arrived: texts.slice(0, arrivedCount).join(''), ahead: texts.slice(arrivedCount).join('') }
}
