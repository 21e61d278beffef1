import { formatDuration, type Step, type StepError } from '@playhead/model'

/** What a step did, in one line. */
export function previewOf(step: Step): string {
  const { inputPreview, outputPreview, kind } = step
  if (kind === 'llm') return outputPreview === undefined ? (inputPreview ?? '') : quoteAnswer(outputPreview)
  if (kind === 'agent' || kind === 'workflow') return outputPreview ?? inputPreview ?? ''
  if (step.guardrail?.isTriggered === true) return 'triggered'
  const parts = [inputPreview, outputPreview === undefined ? undefined : `→ ${outputPreview}`]
  return parts.filter((part) => part !== undefined).join(' ')
}

/** Text from the model is quoted; tool calls are not. */
function quoteAnswer(preview: string): string {
  return preview.startsWith('→ ') ? preview : `“${preview}”`
}

export function durationOf(step: Step): string {
  return step.durationMs === null ? '' : formatStepDuration(step.durationMs)
}

/** "4ms", "1.23s", "2m 05s": one digit more than sessions get. */
export function formatStepDuration(durationMs: number): string {
  if (durationMs < 0.95) return durationMs === 0 ? '0ms' : `${Math.max(0.1, durationMs).toFixed(1)}ms`
  if (durationMs < 999.5) return `${Math.round(durationMs)}ms`
  if (durationMs < 59_995) return `${(durationMs / 1000).toFixed(2)}s`
  return formatDuration(durationMs)
}

/** `isFatal`: the error of the step ended the session. */
export function outcomeOf(
  step: Step,
  { isFatal, isRunning }: { isFatal: boolean; isRunning: boolean },
): string {
  const { error } = step
  if (step.status === 'ok' && step.streaming?.isAborted === true) return 'aborted'
  switch (step.status) {
    case 'running':
      return isRunning ? 'running' : 'never ended'
    case 'soft-error':
      return error?.isHandled === true ? 'returned a failure, handled' : 'returned a failure'
    case 'error':
      if (error?.isPropagated === true) return 'passed on an error'
      if (error?.isHandled === true) return 'failed, handled'
      return isFatal ? 'failed and ended the session' : 'failed'
    default:
      return ''
  }
}

/** "ValueError: customer_id cannot be null", without a type that says nothing. */
export function errorLine({ type, message }: StepError): string {
  if (message === '') return type
  return type === '' || type === 'Error' || message.startsWith(`${type}:`) ? message : `${type}: ${message}`
}
