import { visibleText } from '../format/plain-text.ts'
import type { Step } from '../session/step.ts'
import { isNothing } from './common-values.ts'
import type { ArgumentOrigin, ValueSource } from './value-origin.ts'

/** "from step 2 classify_intent · output.id"; undefined when nothing can be said of it. */
export function describeOrigin({ value, origin, via }: ArgumentOrigin): string | undefined {
  const passed = via === undefined ? '' : `, by way of ${nameSource(via)}`
  if (isNothing(value) && (origin.kind === 'step' || origin.kind === 'model'))
    return `${wordFor(value)} since ${nameSource(origin)}${passed}`
  switch (origin.kind) {
    case 'user':
      return `from what the user said${passed}`
    case 'instructions':
      return `from the instructions${passed}`
    case 'step':
      return `from ${nameSource(origin)}${passed}`
    case 'model':
      return `the model's own words in ${nameSource(origin)}${passed}`
    case 'nowhere':
      return isNothing(value) ? `first ${wordFor(value)} here` : 'from nowhere: no step before had it'
    case 'unclaimed':
      return undefined
  }
}

function wordFor(value: unknown): string {
  return value === null || value === 'null' ? 'null' : 'empty'
}

function nameSource({ step, number, path }: ValueSource): string {
  const place = path === 'output' && step.kind === 'llm' ? '' : ` · ${visibleText(path)}`
  return `step ${number} ${visibleText(titleOf(step))}${place}`
}

function titleOf(step: Step): string {
  return step.kind === 'action' ? (step.tool?.name ?? step.name) : step.name
}
