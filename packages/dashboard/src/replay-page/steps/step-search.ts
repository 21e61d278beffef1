import { isSkeleton, type Step, type StepKind } from '@playhead/model'
import type { Timeline } from '../playback/timeline.ts'

export type StepQuery = { text: string; kinds: ReadonlySet<StepKind> }

export type StepMatches = {
  /** 1 for each match and for each ancestor of one. */
  shown: Uint8Array
  matches: Uint8Array
  matchCount: number
}

/** Limits for one payload: enough for a long prompt, and an end for a hostile one. */
const MAX_VALUES = 20_000
const MAX_DEPTH = 100

/** Finds steps by kind, and by text in names, previews, errors and loaded payloads. Null without a query. */
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
    if (pattern !== undefined && !matchesStep(step, pattern, payloadOf)) continue
    matches[position] = 1
    matchCount += 1
    for (let at = position; at >= 0 && shown[at] === 0; at = parents[at]!) shown[at] = 1
  }
  return { shown, matches, matchCount }
}

function matchesStep(step: Step, pattern: RegExp, payloadOf: (step: Step) => Step): boolean {
  if (matchesOutline(step, pattern)) return true
  const loaded = payloadOf(step)
  return (isSkeleton(step) && matchesOutline(loaded, pattern)) || matchesPayload(loaded, pattern)
}

/** Matches plain text, ignoring case. A pattern is several times faster than lower-casing a hundred thousand texts. */
export function patternOf(text: string): RegExp | undefined {
  const wanted = text.trim()
  if (wanted === '') return undefined
  return new RegExp(wanted.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`), 'iu')
}

function matchesOutline(step: Step, pattern: RegExp): boolean {
  return (
    pattern.test(step.name) ||
    matchesText(step.inputPreview, pattern) ||
    matchesText(step.outputPreview, pattern) ||
    matchesText(step.error?.message, pattern) ||
    matchesText(step.error?.type, pattern) ||
    matchesText(step.model, pattern) ||
    matchesText(step.agent, pattern) ||
    step.id === pattern.source
  )
}

function matchesText(text: string | undefined, pattern: RegExp): boolean {
  return text !== undefined && pattern.test(text)
}

function matchesPayload(step: Step, pattern: RegExp): boolean {
  if (!step.hasPayload) return false
  const budget = { left: MAX_VALUES, depth: 0 }
  return [step.input, step.output, step.messages, step.tool, step.retrieval, step.logs].some((value) =>
    containsText(value, pattern, budget),
  )
}

type Budget = { left: number; depth: number }

function containsText(value: unknown, pattern: RegExp, budget: Budget): boolean {
  budget.left -= 1
  if (budget.left < 0 || budget.depth > MAX_DEPTH) return false
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
