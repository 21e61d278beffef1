import { visibleText, type Step } from '@playhead/model'
import { DetailSection } from './sections.tsx'
import { KindIcon } from '../steps/kind-icon.tsx'
import { useReplay } from '../playback/replay-context.ts'
import { durationOf, previewOf, titleOf } from '../steps/step-text.ts'
import { isFailed, type Timeline } from '../playback/timeline.ts'
import './steps-inside.css'

const MOST_SHOWN = 40

/** What a step that recorded nothing of its own did: the steps right below it. */
export function StepsInside({ step }: { step: Step }) {
  const { timeline, goTo } = useReplay()
  const inside = findInside(timeline, step.id)
  if (inside.length === 0)
    return step.error === undefined ? (
      <DetailSection title="Input and output">
        <p className="dim">none was recorded</p>
      </DetailSection>
    ) : null
  return (
    <DetailSection title="What it did">
      <ol className="steps-inside">
        {inside.slice(0, MOST_SHOWN).map((child) => (
          <li key={child.id}>
            <button type="button" onClick={() => goTo(child.id)}>
              <KindIcon kind={child.kind} isBad={isFailed(child)} />
              <b>{visibleText(titleOf(child))}</b>
              <span className="dim">{visibleText(previewOf(child))}</span>
              <span className="mono">{durationOf(child)}</span>
            </button>
          </li>
        ))}
      </ol>
      {inside.length > MOST_SHOWN && (
        <p className="dim">and {(inside.length - MOST_SHOWN).toLocaleString('en-US')} more, in the list</p>
      )}
    </DetailSection>
  )
}

/** The steps right below one, in the order of their starts. */
export function findInside({ steps, parents, positionOf }: Timeline, stepId: string): Step[] {
  const above = positionOf.get(stepId)
  if (above === undefined) return []
  return steps.filter((_, position) => parents[position] === above)
}
