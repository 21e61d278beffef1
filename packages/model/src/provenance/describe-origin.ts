import { visibleText } from '../format/visible-text.ts'
import { stepName } from '../session/step.ts'
import { isEmptyValue } from './value-index.ts'
import type { ArgumentOrigin, ValueSource } from './argument-origin.ts'

/** "from step 2 classify_intent · output.id"; undefined when nothing is known. "possibly" when it is not certain. */
export function describeOrigin(found: ArgumentOrigin): string | undefined {
  const text = describeCertain(found)
  return text !== undefined && found.isUncertain === true ? `possibly ${text}` : text
}

function describeCertain({ value, origin, via }: ArgumentOrigin): string | undefined {
  const passed = via === undefined ? '' : `, via ${nameSource(via)}`
  if (isEmptyValue(value) && (origin.kind === 'step' || origin.kind === 'model'))
    return `${wordFor(value)} since ${nameSource(origin)}${passed}`
  switch (origin.kind) {
    case 'user':
      return `from the user's message${passed}`
    case 'instructions':
      return `from the system prompt${passed}`
    case 'step':
      return `from ${nameSource(origin)}${passed}`
    case 'model':
      return `written by the model in ${nameSource(origin)}${passed}`
    case 'nowhere':
      return isEmptyValue(value) ? `first ${wordFor(value)} here` : 'not in any earlier step'
    case 'unclaimed':
      return undefined
  }
}

function wordFor(value: unknown): string {
  if (value === undefined) return 'missing'
  return value === null || value === 'null' ? 'null' : 'empty'
}

function nameSource({ step, number, path }: ValueSource): string {
  const place = path === 'output' && step.kind === 'llm' ? '' : ` · ${visibleText(path)}`
  return `step ${number} ${visibleText(stepName(step))}${place}`
}
