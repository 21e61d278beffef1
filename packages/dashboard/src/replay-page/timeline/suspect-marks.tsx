import { visibleText } from '@playhead/model'
import { useReplay } from '../playback/replay-context.ts'
import type { TimeScale } from '../playback/time-scale.ts'

/** The suspects in the ruler, by rank. Not in the tab order: the key W goes from suspect to suspect. */
export function SuspectMarks({ scale }: { scale: TimeScale }) {
  const { timeline, suspects, goTo } = useReplay()
  return (
    <div className="timeline-suspects">
      {suspects.map(({ stepId, sentence }, index) => {
        const position = timeline.positionOf.get(stepId)
        const x = position === undefined ? -1 : scale.toX(timeline.startsMs[position]!)
        if (x < 0 || x > scale.widthPx) return null
        const label = `Suspect ${index + 1}: ${visibleText(sentence)}`
        return (
          <button
            key={stepId}
            type="button"
            tabIndex={-1}
            className="timeline-suspect"
            style={{ left: x }}
            aria-label={label}
            title={label}
            onClick={() => goTo(stepId)}
          >
            {index + 1}
          </button>
        )
      })}
    </div>
  )
}
