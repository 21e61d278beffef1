import { Info } from 'lucide-react'
import { describeAbort, UNKNOWN_MODEL, type Step } from '@playhead/model'
import { useReplay } from '../playback/replay-context.ts'

/** What is missing from a step, or not certain about it, and why. */
export function MissingContent({ step }: { step: Step }) {
  const { timeline, missingCosts, isContentLeftOut } = useReplay()
  const notes: string[] = []
  const abort = describeAbort(step)
  if (abort !== undefined) notes.push(abort)
  if (step.isInferred === true)
    notes.push('Inferred from the conversation: no instrumentation recorded this call.')
  if (step.isOrphan === true)
    notes.push('The parent of this step never arrived, so it is shown at the top level.')
  if (step.isTruncated === true) notes.push('Part of the content was truncated before it was sent.')
  if (step.status === 'running' && timeline.session.endState !== 'running')
    notes.push('This step never ended. Nothing is known of it after its start.')
  if (isPriceUnknown(step, missingCosts.unpricedModels))
    notes.push(`No price is known for ${step.model ?? 'this model'}.`)
  if (isContentMissing(step))
    notes.push(
      isContentLeftOut
        ? 'Whoever shared this session left out its content.'
        : 'The content was not captured: the sender left out inputs and outputs.',
    )
  if (notes.length === 0) return null
  return (
    <ul className="missing-content">
      {notes.map((note) => (
        <li key={note}>
          <Info size={13} aria-hidden="true" />
          {note}
        </li>
      ))}
    </ul>
  )
}

function isPriceUnknown(step: Step, unpricedModels: readonly string[]): boolean {
  if (step.kind !== 'llm' || step.cost !== null) return false
  const model = step.model ?? step.requestedModel ?? UNKNOWN_MODEL
  return (step.usageScope ?? 'call') === 'call' && unpricedModels.includes(model)
}

function isContentMissing(step: Step): boolean {
  if (!step.hasPayload || (step.kind !== 'llm' && step.kind !== 'action' && step.kind !== 'retrieval'))
    return false
  const contents = [
    step.input,
    step.output,
    step.messages,
    step.tool?.arguments,
    step.tool?.result,
    step.retrieval?.query,
    step.retrieval?.documents,
  ]
  return step.status !== 'running' && contents.every((content) => content === undefined)
}
