import { ArrowRight } from 'lucide-react'
import { useQueryClient } from '@tanstack/react-query'
import { findProblems, visibleText, type Step } from '@playhead/model'
import { useSessionSource } from '../../api/session-source.ts'
import { knownStep } from '../../api/use-step.ts'
import { DetailSection } from './sections.tsx'
import { useReplay } from '../playback/replay-context.ts'
import { titleOf } from '../steps/step-text.ts'
import { findOrigins } from './value-origin.ts'

/** The steps that the value behind a failure went through, as far as the recording tells. */
export function ValueOrigins({ step }: { step: Step }) {
  const { timeline, goTo } = useReplay()
  const source = useSessionSource()
  const client = useQueryClient()
  const problem = findProblems(step)[0]
  if (problem === undefined) return null
  const known = (earlier: Step) => knownStep(client, source, timeline.session.id, earlier)
  const origins = findOrigins(timeline, step, problem, known)
  if (origins.length === 0) return null
  return (
    <DetailSection title="Where it came from">
      <ol className="origins">
        {origins.map(({ position, says }) => {
          const origin = timeline.steps[position]!
          return (
            <li key={position}>
              <button type="button" className="origin" onClick={() => goTo(origin.id)}>
                {visibleText(titleOf(origin))} <span className="dim">{visibleText(says)}</span>
              </button>
              <ArrowRight size={14} aria-hidden="true" />
            </li>
          )
        })}
        <li>
          <span className="origin is-bad">
            {visibleText(titleOf(step))}({visibleText(problem.path)})
          </span>
        </li>
      </ol>
    </DetailSection>
  )
}
