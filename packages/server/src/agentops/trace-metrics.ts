import type { Pricer, SessionSummary, Step, Usage } from '@playhead/model'

/** The metrics of a session in AgentOps' format; costs are strings with seven decimals. */
export function traceMetrics(session: SessionSummary, steps: readonly Step[], pricer: Pricer) {
  const { endState, cost } = session
  const hasOutcome = endState === 'success' || endState === 'fail'
  return {
    span_count: steps.length,
    trace_count: 1,
    success_count: endState === 'success' ? 1 : 0,
    fail_count: endState === 'fail' ? 1 : 0,
    indeterminate_count: hasOutcome ? 0 : 1,
    ...stepMetrics(steps, pricer),
    average_cost_per_trace: dollars(cost),
    total_cost: dollars(cost),
  }
}

/** The metrics of steps; each call counts once. */
export function stepMetrics(steps: readonly Step[], pricer: Pricer) {
  const calls = steps.filter((step) => step.usageScope === 'call')
  const tokens = (field: keyof Usage) => calls.reduce((sum, { usage }) => sum + (usage?.[field] ?? 0), 0)
  const costs = calls.flatMap(({ cost }) => (cost === null ? [] : [cost]))
  const total = costs.length === 0 ? null : sum(costs)
  const prompt = total === null ? null : promptCost(calls, pricer)
  return {
    prompt_tokens: tokens('input'),
    completion_tokens: tokens('output'),
    cache_read_input_tokens: tokens('cacheRead'),
    reasoning_tokens: tokens('reasoning'),
    total_tokens: tokens('total'),
    prompt_cost: dollars(prompt),
    completion_cost: dollars(total === null || prompt === null ? null : total - prompt),
    total_cost: dollars(total),
  }
}

/** The cost of the input alone; null if a call reported its cost as one number. */
function promptCost(calls: readonly Step[], pricer: Pricer): number | null {
  const costs: number[] = []
  for (const step of calls) {
    if (step.cost === null) continue
    const price = step.costSource === 'computed' ? pricer.price(withoutOutput(step)) : null
    if (price?.cost === undefined) return null
    costs.push(price.cost)
  }
  return sum(costs)
}

function withoutOutput(step: Step): Parameters<Pricer['price']>[0] {
  const { usage = {} } = step
  const input = usage.input ?? 0
  const { reasoning: _reasoning, audioOutput: _audioOutput, ...others } = usage
  return {
    sessionId: '',
    id: step.id,
    parentId: step.parentId,
    isParentRemote: false,
    startedAtMs: Date.parse(step.startedAt),
    endedAtMs: null,
    kind: step.kind,
    name: step.name,
    dialect: step.dialect,
    status: step.status,
    usage: { ...others, input, output: 0, total: input },
    ...(step.model !== undefined && { model: step.model }),
    ...(step.requestedModel !== undefined && { requestedModel: step.requestedModel }),
    ...(step.provider !== undefined && { provider: step.provider }),
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

function dollars(amount: number | null): string | null {
  return amount === null ? null : amount.toFixed(7)
}
