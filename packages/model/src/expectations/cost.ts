import { describeCost, formatCost, formatCount } from '../format/format-number.ts'
import { formatOffset } from '../format/format-time.ts'
import { isRecord } from '../json/attribute-value.ts'
import {
  describeMissingUsage,
  isCostIncomplete,
  isOutputUnknown,
  NO_OUTPUT,
} from '../session/calls-without-usage.ts'
import type { Session } from '../session/session.ts'
import type { Step } from '../session/step.ts'
import { totalTokens } from '../session/usage.ts'
import { fail, requireNumber } from './required-argument.ts'
import { readSubject, type SessionSubject } from './session-subject.ts'
import type { Verdict } from './verdict.ts'

/** The session must stay below every limit that is set. */
export type CostLimit = {
  usd?: number | undefined
  tokens?: number | undefined
  llmCalls?: number | undefined
}

/**
 * Checks that a session cost less than a limit in US dollars, or stayed below several limits. If a model has no known
 * price or a call reported no usage, the cost is undecided: both the check and its negation fail.
 *
 * @example
 * costsLessThan(session, 0.01)
 * costsLessThan(session, { usd: 0.01, tokens: 6_000, llmCalls: 4 })
 */
export function costsLessThan(subject: SessionSubject, limit: number | CostLimit): Verdict {
  const session = readSubject(subject)
  const { usd, tokens, llmCalls } = readLimit(limit)
  const summary: Partial<Session['session']> = session.session
  const { cost = null, unpricedModels = [], llmCallCount = 0, usage } = summary
  const used = totalTokens(usage ?? {}) ?? 0
  const counted = listCounted(session)
  if (usd !== undefined && isCostIncomplete({ ...session.session, unpricedModels }) && (cost ?? 0) < usd)
    return {
      pass: false,
      isUndecided: true,
      message: `Expected the session to cost less than ${formatCost(usd)}, but its cost is unknown: ${describeCost(cost, unpricedModels, describeMissingUsage(session.session))}. ${unpricedModels.length > 0 ? "Set the price in the project's settings, or limit { tokens, llmCalls } instead." : 'Ask for the usage, or limit { llmCalls } instead.'}${counted}`,
    }
  const rows = [
    usd !== undefined && {
      isKept: (cost ?? 0) < usd,
      text: `cost ${formatCost(cost ?? 0)}, limit ${formatCost(usd)}`,
    },
    tokens !== undefined && {
      isKept: used < tokens,
      text: `${formatCount(used)} tokens, limit ${formatCount(tokens)}`,
    },
    llmCalls !== undefined && {
      isKept: llmCallCount < llmCalls,
      text: `${llmCallCount} model calls, limit ${llmCalls}`,
    },
  ].filter((row) => row !== false)
  const pass = rows.every(({ isKept }) => isKept)
  const lines = rows.map(({ isKept, text }) => `  ${isKept ? '✓' : '✗'} ${text}`)
  const head = pass
    ? 'Expected the session to exceed a limit, but it did not:'
    : 'Expected the session to stay below its limits:'
  const dearest = mostExpensiveCall(session)
  return {
    pass,
    message: `${head}\n${lines.join('\n')}${counted}`,
    ...(dearest !== undefined && { stepId: dearest }),
  }
}

function readLimit(limit: number | CostLimit): CostLimit {
  const limits = typeof limit === 'number' ? { usd: limit } : limit
  if (!isRecord(limits)) return fail('The limit', 'must be a number or { usd, tokens, llmCalls }', limit)
  for (const name of ['usd', 'tokens', 'llmCalls'] as const)
    if (limits[name] !== undefined) requireNumber(limits[name], `The limit ${name}`)
  return limits
}

const MAX_LISTED = 20

/** Every step that counts, with its model, tokens and cost. The lines add up to the session's figures. */
function listCounted(session: Session): string {
  const counted = countedSteps(session)
  if (counted.length === 0) return '\n\nCounted: no model calls.'
  const listed = counted.length > MAX_LISTED ? counted.slice(0, MAX_LISTED - 1) : counted
  const rest = counted.slice(listed.length)
  const lines = listed.map((step) => {
    const number = session.steps.indexOf(step) + 1
    return `  #${number} ${formatOffset(step.offsetMs)} ${step.model ?? step.name}: ${describeFigures([step])}`
  })
  const more = rest.length === 0 ? [] : [`  and ${rest.length} more: ${describeFigures(rest)}`]
  return `\n\nCounted:\n${[...lines, ...more].join('\n')}`
}

/** "1,100 tokens, $0.0035". */
function describeFigures(steps: readonly Step[]): string {
  const tokens = steps.flatMap(({ usage }) => (usage === undefined ? [] : (totalTokens(usage) ?? [])))
  const costs = steps.flatMap(({ cost }) => cost ?? [])
  const unpriced = steps.filter((step) => step.cost === null && !isOutputUnknown(step)).length
  const usage = tokens.length === 0 ? 'no usage reported' : `${formatCount(sum(tokens))} tokens`
  const money = costs.length === 0 ? [] : [formatCost(sum(costs))]
  const missing =
    tokens.length === 0 || unpriced === 0
      ? []
      : [steps.length === 1 ? 'no price' : `${unpriced} without a price`]
  if (steps.some(isOutputUnknown)) missing.push(NO_OUTPUT)
  return [usage, ...money, ...missing].join(', ')
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

/** The steps whose tokens and cost make up the session's, and model calls that reported none. */
function countedSteps({ steps }: Session): Step[] {
  const byId = new Map(steps.map((step) => [step.id, step]))
  const aboveCalls = new Set<string>()
  for (const { kind, parentId } of steps) {
    let above = kind === 'llm' || kind === 'embedding' ? parentId : null
    while (above !== null && !aboveCalls.has(above)) {
      aboveCalls.add(above)
      above = byId.get(above)?.parentId ?? null
    }
  }
  return steps.filter(({ id, kind, usageScope }) => {
    if (usageScope !== undefined) return usageScope === 'call'
    return (kind === 'llm' || kind === 'embedding') && !aboveCalls.has(id)
  })
}

function mostExpensiveCall(session: Session): string | undefined {
  const calls = countedSteps(session).filter(({ cost }) => cost !== null)
  return calls.toSorted((left, right) => right.cost! - left.cost!)[0]?.id
}
