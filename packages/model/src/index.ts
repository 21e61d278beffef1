export {
  describeEndState,
  endStates,
  LOST_AFTER_MS,
  parseEndState,
  type EndState,
  type GivenEndState,
} from './end-state.ts'
export type { LogAddition, LogContent, LogDraft, LogOutline } from './log-draft.ts'
export type { Message, Part, ToolDefinition } from './message.ts'
export type { Session, SessionSummary, SessionTest } from './session.ts'
export { parseSessionIdPrefix, shortSessionId } from './session-id.ts'
export {
  emptyAttributes,
  type Attributes,
  type AttributeValue,
  type LogRecord,
  type Scope,
  type Span,
  type SpanEvent,
  type SpanLink,
} from './span.ts'
export type { SessionFacts, StepContent, StepDraft, StepOutline, TreeQuestion } from './step-draft.ts'
export {
  stepKinds,
  type Effect,
  type LogEntry,
  type RetrievedDocument,
  type Step,
  type StepError,
  type StepKind,
  type StepStatus,
  type StepTool,
  type Streaming,
} from './step.ts'
export { addUsage, hasUsage, usageFields, type Usage, type UsageScope } from './usage.ts'
