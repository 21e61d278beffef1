import type { StepKind } from '../../session/step.ts'
import type { StepOutline } from '../../session/step-draft.ts'
import type { SpanReading } from '../reading/dialect.ts'
import { bareAgentName } from './participants.ts'

/** Default names of frameworks, which say nothing. */
const defaultNames = new Set([
  'response',
  'generation',
  'turn',
  'runnablesequence',
  'runnablelambda',
  'unknown',
  '',
])
const suffix = /\.(?:workflow|task|operation|session|guardrail|chain|llm|handoff|agent|tool)$/
const prefix = /^(?:(?:invoke_workflow|retrieval|rerank|plan) (?=\S)|claude_code\.)/

type Named = Pick<StepOutline, 'model' | 'requestedModel' | 'agent' | 'toolName' | 'handoff' | 'guardrail'>

/** The name of a step: its tool, agent or model, otherwise the span's name. */
export function nameOfStep(reading: SpanReading, kind: StepKind, known: Named): string {
  const { fields, span } = reading
  switch (kind) {
    case 'llm':
    case 'embedding':
      return modelName(known) ?? plainName(reading, kind)
    case 'action':
      return known.toolName ?? plainName(reading, kind)
    case 'agent':
      return known.agent ?? bareAgentName(span.name)
    case 'guardrail':
      return known.guardrail?.name ?? plainName(reading, kind)
    case 'handoff':
      return handoffName(known.handoff) ?? plainName(reading, kind)
    case 'workflow':
      return workflowName(reading) ?? plainName(reading, kind)
    case 'retrieval':
      return fields.dataSource ?? plainName(reading, kind)
    default:
      return plainName(reading, kind)
  }
}

/** The requested name, if the response's name only adds a date to it. */
function modelName({ model, requestedModel }: Named): string | undefined {
  if (model === undefined || requestedModel === undefined) return model
  return model.startsWith(requestedModel) ? requestedModel : model
}

/** `traceloop.workflow.name` is on every step of a workflow, so it names only the workflow itself. */
function workflowName({ fields }: SpanReading): string | undefined {
  return fields.functionId ?? (fields.operation === 'invoke_workflow' ? fields.workflowName : undefined)
}

function handoffName(handoff: StepOutline['handoff']): string | undefined {
  if (handoff?.to === undefined) return undefined
  return handoff.from === undefined ? `→ ${handoff.to}` : `${handoff.from} → ${handoff.to}`
}

function plainName({ fields, span }: SpanReading, kind: StepKind): string {
  const isSuffixed = fields.traceloopKind !== undefined || fields.agentOpsKind !== undefined
  const bare = (isSuffixed ? span.name.replace(suffix, '') : span.name).replace(prefix, '')
  const name = fields.displayName ?? fields.entityName ?? bare
  if (!defaultNames.has(name.toLowerCase())) return name
  const isCall = kind === 'llm' || kind === 'embedding'
  return (isCall ? (fields.operation ?? fields.requestType ?? kind) : fields.operation) ?? (name || kind)
}
