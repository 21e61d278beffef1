import type { Step, StepKind } from '@playhead/model'
import type { Timeline } from '../playback/timeline.ts'

export type StepQuery = { text: string; kinds: ReadonlySet<StepKind> }

export type StepMatches = {
  /** 1 for each step that is meant, and for each step above one. */
  shown: Uint8Array
  matches: Uint8Array
  matchCount: number
}

/** Texts looked at inside one payload: enough for a long prompt, an end for a hostile one. */
const VALUES_LOOKED_AT = 20_000
const DEPTH_LOOKED_AT = 100

/**
 * Finds steps by kind and by text in their names, previews, errors and whatever payloads are at hand. Null when nothing
 * is asked.
 */
export function findSteps(
  timeline: Timeline,
  { text, kinds }: StepQuery,
  payloadOf: (step: Step) => Step = (step) => step,
): StepMatches | null {
  const pattern = patternOf(text)
  if (pattern === undefined && kinds.size === 0) return null
  const { steps, parents } = timeline
  const matches = new Uint8Array(steps.length)
  const shown = new Uint8Array(steps.length)
  let matchCount = 0
  for (let position = 0; position < steps.length; position += 1) {
    const step = steps[position]!
    if (kinds.size > 0 && !kinds.has(step.kind)) continue
    if (pattern !== undefined && !isNamed(step, pattern) && !isInside(payloadOf(step), pattern)) continue
    matches[position] = 1
    matchCount += 1
    for (let at = position; at >= 0 && shown[at] === 0; at = parents[at]!) shown[at] = 1
  }
  return { shown, matches, matchCount }
}

/** Plain text without regard to case. A pattern is several times faster than lowering a hundred thousand texts. */
export function patternOf(text: string): RegExp | undefined {
  const wanted = text.trim()
  if (wanted === '') return undefined
  return new RegExp(wanted.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`), 'iu')
}

function isNamed(step: Step, pattern: RegExp): boolean {
  return (
    pattern.test(step.name) ||
    holds(step.inputPreview, pattern) ||
    holds(step.outputPreview, pattern) ||
    holds(step.error?.message, pattern) ||
    holds(step.error?.type, pattern) ||
    holds(step.model, pattern) ||
    holds(step.agent, pattern) ||
    step.id === pattern.source
  )
}

function holds(text: string | undefined, pattern: RegExp): boolean {
  return text !== undefined && pattern.test(text)
}

function isInside(step: Step, pattern: RegExp): boolean {
  if (!step.hasPayload) return false
  const budget = { left: VALUES_LOOKED_AT, depth: 0 }
  return [step.input, step.output, step.messages, step.tool, step.retrieval, step.logs].some((value) =>
    containsText(value, pattern, budget),
  )
}

type Budget = { left: number; depth: number }

function containsText(value: unknown, pattern: RegExp, budget: Budget): boolean {
  budget.left -= 1
  if (budget.left < 0 || budget.depth > DEPTH_LOOKED_AT) return false
  if (typeof value === 'string') return pattern.test(value)
  if (typeof value === 'number') return pattern.test(String(value))
  if (typeof value !== 'object' || value === null) return false
  budget.depth += 1
  const isFound = Array.isArray(value)
    ? value.some((item) => containsText(item, pattern, budget))
    : Object.entries(value).some(([key, item]) => pattern.test(key) || containsText(item, pattern, budget))
  budget.depth -= 1
  return isFound
}
