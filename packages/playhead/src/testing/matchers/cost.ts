import { describeCost, formatCost, formatCount, formatOffset, type Session } from '@playhead/model'
import { replayLine } from '../sessions/replay-link.ts'
import { readSubject, type SessionSubject } from '../sessions/session-subject.ts'
import type { Verdict } from './verdict.ts'

/** Each that is given must not be reached. */
export type CostLimit = {
  usd?: number | undefined
  tokens?: number | undefined
  llmCalls?: number | undefined
}

/**
 * Whether a session cost less than a limit: US dollars, or several limits. A model whose price is unknown does not count as
 * free: then it can't be said.
 *
 * @example
 * costsLessThan(session, 0.01)
 * costsLessThan(session, { usd: 0.01, tokens: 6_000, llmCalls: 4 })
 */
export function costsLessThan(subject: SessionSubject, limit: number | CostLimit): Verdict {
  const session = readSubject(subject)
  const { usd, tokens, llmCalls } = typeof limit === 'number' ? ({ usd: limit } as CostLimit) : limit
  const { cost, unpricedModels, llmCallCount } = session.session
  const used = tokensOf(session)
  if (usd !== undefined && unpricedModels.length > 0 && (cost ?? 0) < usd)
    return {
      pass: false,
      isUndecided: true,
      message: `It can't be said whether the session cost less than ${formatCost(usd)}: it cost ${describeCost(cost, unpricedModels)}. Set the price in the settings of the project, or limit { tokens, llmCalls } instead.${replayLine(session.session)}`,
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
    ? 'Expected the session to reach a limit, but it did not:'
    : 'Expected the session to cost less:'
  const dearest = dearestOf(session)
  return {
    pass,
    message: `${head}\n${lines.join('\n')}${listOfModelCalls(session)}${replayLine(session.session, dearest)}`,
    ...(dearest !== undefined && { stepId: dearest }),
  }
}

function tokensOf({ session: { usage } }: Session): number {
  return usage.total ?? (usage.input ?? 0) + (usage.output ?? 0)
}

const SHOWN = 12

function modelCalls({ steps }: Session) {
  return steps.filter((step) => step.kind === 'llm' && step.usageScope !== 'duplicate')
}

function listOfModelCalls(session: Session): string {
  const calls = modelCalls(session)
  if (calls.length === 0) return ''
  const lines = calls.slice(0, SHOWN).map((step) => {
    const number = session.steps.indexOf(step) + 1
    return `  #${number} ${formatOffset(step.offsetMs)} ${step.model ?? step.name} ${describeCost(step.cost, [])}`
  })
  const more = calls.length > SHOWN ? [`  … ${calls.length - SHOWN} more`] : []
  return `\n\nIts model calls:\n${[...lines, ...more].join('\n')}`
}

function dearestOf(session: Session): string | undefined {
  const calls = modelCalls(session).filter(({ cost }) => cost !== null)
  return calls.toSorted((left, right) => right.cost! - left.cost!)[0]?.id
}
