import { formatDuration, type Step, type StepError } from '@playhead/model'

/** What a step is called in the list: of a model call the model, of an agent its name. */
export function titleOf(step: Step): string {
  if (step.kind === 'llm' || step.kind === 'embedding') return step.model ?? step.requestedModel ?? step.name
  if (step.kind === 'action') return step.tool?.name ?? step.name
  if (step.kind === 'agent') return step.agent ?? step.name
  const { from, to } = step.handoff ?? {}
  if (step.kind === 'handoff' && to !== undefined) return from === undefined ? `→ ${to}` : `${from} → ${to}`
  return step.name
}

/** One line of what a step did, for the list. */
export function previewOf(step: Step): string {
  const { inputPreview, outputPreview, kind } = step
  if (kind === 'llm') return outputPreview === undefined ? (inputPreview ?? '') : quoteAnswer(outputPreview)
  if (kind === 'agent' || kind === 'workflow') return outputPreview ?? inputPreview ?? ''
  if (step.guardrail?.isTriggered === true) return 'triggered'
  const parts = [inputPreview, outputPreview === undefined ? undefined : `→ ${outputPreview}`]
  return parts.filter((part) => part !== undefined).join(' ')
}

/** Tool calls read as they are; what the model said is in quotes. */
function quoteAnswer(preview: string): string {
  return preview.startsWith('→ ') ? preview : `“${preview}”`
}

export function durationOf(step: Step): string {
  return step.durationMs === null ? '' : formatStepDuration(step.durationMs)
}

/** "4ms", "1.23s", "2m 05s": steps want a digit more than sessions. */
export function formatStepDuration(durationMs: number): string {
  if (durationMs < 0.95) return durationMs === 0 ? '0ms' : `${Math.max(0.1, durationMs).toFixed(1)}ms`
  if (durationMs < 999.5) return `${Math.round(durationMs)}ms`
  if (durationMs < 59_995) return `${(durationMs / 1000).toFixed(2)}s`
  return formatDuration(durationMs)
}

/** How a step came out, in words. `isFatal`: its error ended the session. */
export function outcomeOf(
  step: Step,
  { isFatal, isRunning }: { isFatal: boolean; isRunning: boolean },
): string {
  const { error } = step
  switch (step.status) {
    case 'running':
      return isRunning ? 'running' : 'never ended'
    case 'soft-error':
      return error?.isHandled === true ? 'returned a failure, handled' : 'returned a failure'
    case 'error':
      if (error?.isPropagated === true) return 'passed on an error from below'
      if (error?.isHandled === true) return 'failed, handled'
      return isFatal ? 'failed, ended the session' : 'failed'
    default:
      return ''
  }
}

/** "ValueError: customer_id cannot be null"; a type that says nothing is left out. */
export function errorLine({ type, message }: StepError): string {
  if (message === '') return type
  return type === '' || type === 'Error' || message.startsWith(`${type}:`) ? message : `${type}: ${message}`
}
