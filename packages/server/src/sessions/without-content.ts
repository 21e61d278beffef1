import {
  isNamedByInput,
  type Score,
  type Session,
  type SessionSummary,
  type Step,
  type StepError,
} from '@playhead/model'

const LEFT_OUT = 'The message was left out.'

/** What to do with a field: keep it, leave it out, or keep a part of it. A new field has to be decided here. */
type Rules<Whole> = {
  [Field in keyof Required<Whole>]:
    | 'keep'
    | 'leave out'
    | ((value: NonNullable<Whole[Field]>, whole: Whole) => Whole[Field])
}

const stepRules: Rules<Step> = {
  id: 'keep',
  parentId: 'keep',
  kind: 'keep',
  name: 'keep',
  startedAt: 'keep',
  endedAt: 'keep',
  offsetMs: 'keep',
  durationMs: 'keep',
  status: 'keep',
  error: errorWithoutContent,
  inputPreview: 'leave out',
  outputPreview: 'leave out',
  // There is nothing more to load.
  hasPayload: () => true,
  input: 'leave out',
  output: 'leave out',
  messages: 'leave out',
  toolDefinitions: 'leave out',
  model: 'keep',
  requestedModel: 'keep',
  provider: 'keep',
  parameters: 'leave out',
  usage: 'keep',
  usageScope: 'keep',
  cost: 'keep',
  costSource: 'keep',
  tool: ({ name, type }) => ({ name, ...(type !== undefined && { type }) }),
  agent: 'keep',
  effect: 'keep',
  source: 'keep',
  handoff: 'keep',
  guardrail: 'keep',
  retrieval: 'leave out',
  streaming: ({ chunks: _, ...times }) => times,
  responseId: 'leave out',
  finishReasons: 'keep',
  attempt: 'keep',
  logs: 'leave out',
  dialect: 'keep',
  attributes: 'leave out',
  isOrphan: 'keep',
  isTruncated: 'keep',
  isInferred: 'keep',
  changes: 'leave out',
}

const sessionRules: Rules<SessionSummary> = {
  id: 'keep',
  // Some sessions have no other name than the first line of their input.
  name: (name, { inputPreview }) => (isNamedByInput(name, inputPreview) ? 'Session' : name),
  inputPreview: 'leave out',
  endState: 'keep',
  endStateReason: 'leave out',
  startedAt: 'keep',
  endedAt: 'keep',
  durationMs: 'keep',
  tags: 'keep',
  usage: 'keep',
  cost: 'keep',
  unpricedModels: 'keep',
  modelsWithoutUsage: 'keep',
  modelsWithoutOutput: 'keep',
  stepCount: 'keep',
  llmCallCount: 'keep',
  actionCount: 'keep',
  errorCount: 'keep',
  models: 'keep',
  agents: 'keep',
  tools: 'keep',
  userId: 'leave out',
  threadId: 'leave out',
  environment: 'keep',
  version: 'keep',
  test: 'keep',
  vcs: 'keep',
  metadata: 'leave out',
  parentId: 'leave out',
  parentStepId: 'leave out',
  lane: 'keep',
  edit: 'leave out',
  scores: (scores) => scores.map(scoreWithoutContent),
  url: 'leave out',
  demo: 'keep',
}

/** A session without what was said in it: names, times, costs and structure stay. */
export function withoutContent({ session, steps, scores }: Session): Session {
  return {
    session: applyRules(session, sessionRules),
    steps: steps.map(stepWithoutContent),
    ...(scores !== undefined && { scores: scores.map(scoreWithoutContent) }),
  }
}

export function stepWithoutContent(step: Step): Step {
  return applyRules(step, stepRules)
}

function errorWithoutContent({ type, cause, isPropagated, isHandled }: StepError): StepError {
  return {
    type,
    message: LEFT_OUT,
    ...(cause !== undefined && { cause: errorWithoutContent(cause) }),
    ...(isPropagated !== undefined && { isPropagated }),
    ...(isHandled !== undefined && { isHandled }),
  }
}

function scoreWithoutContent({ comment: _, ...score }: Score): Score {
  return score
}

function applyRules<Whole extends object>(whole: Whole, rules: Rules<Whole>): Whole {
  const kept: Partial<Whole> = {}
  // A field without a rule is left out too.
  for (const field of Object.keys(rules) as (keyof Whole)[]) {
    const rule = rules[field]
    const value = whole[field]
    if (rule === 'leave out' || value === undefined) continue
    kept[field] = typeof rule === 'function' && value !== null ? rule(value, whole) : value
  }
  return kept as Whole
}
