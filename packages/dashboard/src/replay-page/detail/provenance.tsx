import { useQueryClient } from '@tanstack/react-query'
import { ArrowRight } from 'lucide-react'
import {
  createArgumentTracer,
  describeOrigin,
  findProblems,
  stepTitle,
  visibleText,
  type ArgumentOrigin,
  type ArgumentTracer,
  type Step,
} from '@playhead/model'
import { useSessionSource } from '../../api/session-source.ts'
import { cachedStep } from '../../api/use-step.ts'
import { STEPS_SEARCHED, useArgumentOrigins } from '../../session-facts/argument-origins.ts'
import { useReplay } from '../playback/replay-context.ts'
import { DetailSection } from './sections.tsx'
import './provenance.css'

const MAX_NOTES = 4
const MAX_PARTS = 3

/** Says where an argument, or parts of it, came from, and links to the step. */
export function OriginNotes({ path, origins }: { path: string; origins: readonly ArgumentOrigin[] }) {
  const own = origins.filter(
    (origin) =>
      origin.path === path || origin.path.startsWith(`${path}.`) || origin.path.startsWith(`${path}[`),
  )
  const notes = [...Map.groupBy(own, describeOrigin)].filter(([text]) => text !== undefined)
  return notes
    .slice(0, MAX_NOTES)
    .map(([text, alike]) => (
      <OriginNote
        key={text}
        text={text!}
        parts={
          alike.length === own.length && own.length > 1 ? [] : alike.map((one) => one.path.slice(path.length))
        }
        origin={alike[0]!}
      />
    ))
}

/** `parts`: the parts of the argument that the note is about; empty when it is about all of it. */
function OriginNote({
  text,
  parts,
  origin,
}: {
  text: string
  parts: readonly string[]
  origin: ArgumentOrigin
}) {
  const { goTo } = useReplay()
  const source = 'step' in origin.origin ? origin.origin.step : origin.via?.step
  const names = parts.map((part) => visibleText(part.replace(/^\./, ''))).filter((name) => name !== '')
  const more = names.length > MAX_PARTS ? ` and ${names.length - MAX_PARTS} more` : ''
  const subject = names.length === 0 ? [] : [names.slice(0, MAX_PARTS).join(', ') + more]
  const note = ['←', ...subject, text].join(' ')
  if (source === undefined) return <span className="origin-note">{note}</span>
  return (
    <button type="button" className="origin-note" onClick={() => goTo(source.id)}>
      {note}
    </button>
  )
}

/** The steps that led to the argument that broke an action. */
export function ValueTrail({ step }: { step: Step }) {
  const { goTo } = useReplay()
  const problem = findProblems(step)[0]
  const origins = useArgumentOrigins(useReplay().timeline, step)
  const traceNearby = useNearbyTracer()
  if (problem === undefined) return null
  const found = (origins ?? traceNearby(step)).find(({ path }) => path === problem.path)
  const trail = found?.trail ?? []
  if (trail.length === 0) return null
  return (
    <DetailSection title={found?.isUncertain === true ? 'Where it possibly came from' : 'Where it came from'}>
      <ol className="value-trail">
        {trail.map(({ step: earlier, did }) => (
          <li key={earlier.id}>
            <button type="button" className="value-trail-step" onClick={() => goTo(earlier.id)}>
              {visibleText(stepTitle(earlier))} <span className="dim">{visibleText(did)}</span>
            </button>
            <ArrowRight size={14} aria-hidden="true" />
          </li>
        ))}
        <li>
          <span className="value-trail-step is-bad">
            {visibleText(stepTitle(step))}({visibleText(problem.path)})
          </span>
        </li>
      </ol>
    </DetailSection>
  )
}

/** Searches the steps just before an action, as far as they are loaded. */
function useNearbyTracer(): ArgumentTracer {
  const { timeline, previews } = useReplay()
  const { steps, session, positionOf } = timeline
  const source = useSessionSource()
  const client = useQueryClient()
  return (action) => {
    const position = positionOf.get(action.id) ?? 0
    const nearby = steps.slice(Math.max(0, position - STEPS_SEARCHED), position + 1)
    return createArgumentTracer(
      nearby.map((step) => cachedStep(client, source, session.id, previews.of(step))),
    )(action)
  }
}
