import type { StepDraft, StepOutline } from '../src/session/step-draft.ts'
import type { StepKind } from '../src/session/step.ts'
import { spanToStep } from '../src/dialects/drafts/span-to-step.ts'
import { loadSpans } from './load-fixture.ts'
import { makeSpan, type SpanShape } from './make-span.ts'

/** The steps of a folder below `fixtures`. */
export function stepsOf(folder: string): StepDraft[] {
  return loadSpans(folder).map(spanToStep)
}

/** The step that a span of this shape becomes. */
export function stepOf(shape: SpanShape): StepDraft {
  return spanToStep(makeSpan(shape))
}

/** "kind name" of each step, in the order of the spans. */
export function outlineOf(steps: StepDraft[]): string[] {
  return steps.map(({ outline }) => `${outline.kind} ${outline.name}`)
}

/** The first step with this kind and name. */
export function find(steps: StepDraft[], kind: StepKind, name: string, index = 0): StepDraft {
  const found = steps.filter(({ outline }) => outline.kind === kind && outline.name === name)[index]
  if (found === undefined) throw new Error(`no ${kind} ${name}: ${outlineOf(steps).join(', ')}`)
  return found
}

/** The given fields of an outline, to compare several at once. */
export function pick<Field extends keyof StepOutline>(
  { outline }: StepDraft,
  ...fields: Field[]
): Pick<StepOutline, Field> {
  return Object.fromEntries(fields.map((field) => [field, outline[field]])) as Pick<StepOutline, Field>
}
