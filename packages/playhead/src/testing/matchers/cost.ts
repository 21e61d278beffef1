import {
  describeCost,
  formatCost,
  formatCount,
  formatOffset,
  totalTokens,
  type Session,
} from '@playhead/model'
import { replayLine } from '../sessions/replay-link.ts'
import { readSubject, type SessionSubject } from '../sessions/session-subject.ts'
import type { Verdict } from './verdict.ts'

/** The session must stay below every limit that is set. */
export type CostLimit = {
  usd?: number | undefined
  tokens?: number | undefined
  llmCalls?: number | undefined
}

/**
 * Checks that a session cost less than a limit in US dollars, or stayed below several limits. If a model has no known
 * price, the cost is undecided: both the check and its negation fail.
 *
 * @example
 * costsLessThan(session, 0.01)
 * costsLessThan(session, { usd: 0.01, tokens: 6_000, llmCalls: 4 })
 */
export function costsLessThan(subject: SessionSubject, limit: number | CostLimit): Verdict {
  const session = readSubject(subject)
  const { usd, tokens, llmCalls } = typeof limit === 'number' ? ({ usd: limit } as CostLimit) : limit
  const { cost, unpricedModels, llmCallCount } = session.session
  const used = totalTokens(session.session.usage) ?? 0
  if (usd !== undefined && unpricedModels.length > 0 && (cost ?? 0) < usd)
    return {
      pass: false,
      isUndecided: true,
      message: `Expected the session to cost less than ${formatCost(usd)}, but its cost is unknown: ${describeCost(cost, unpricedModels)}. Set the price in the project's settings, or limit { tokens, llmCalls } instead.${replayLine(session.session)}`,
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
    message: `${head}\n${lines.join('\n')}${listOfModelCalls(session)}${replayLine(session.session, dearest)}`,
    ...(dearest !== undefined && { stepId: dearest }),
  }
}

const MAX_CALLS = 12

function modelCalls({ steps }: Session) {
  return steps.filter((step) => step.kind === 'llm' && step.usageScope !== 'duplicate')
}

function listOfModelCalls(session: Session): string {
  const calls = modelCalls(session)
  if (calls.length === 0) return ''
  const lines = calls.slice(0, MAX_CALLS).map((step) => {
    const number = session.steps.indexOf(step) + 1
    return `  #${number} ${formatOffset(step.offsetMs)} ${step.model ?? step.name} ${describeCost(step.cost, [])}`
  })
  const more = calls.length > MAX_CALLS ? [`  … ${calls.length - MAX_CALLS} more`] : []
  return `\n\nModel calls:\n${[...lines, ...more].join('\n')}`
}

function mostExpensiveCall(session: Session): string | undefined {
  const calls = modelCalls(session).filter(({ cost }) => cost !== null)
  return calls.toSorted((left, right) => right.cost! - left.cost!)[0]?.id
}
