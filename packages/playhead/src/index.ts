export { init, flush, shutdown, type FlushOptions } from './record/init.ts'
export {
  addTags,
  endSession,
  getSession,
  setMetadata,
  startSession,
  withSession,
  type EndSessionOptions,
  type EndStateWord,
} from './record/sessions.ts'
export { record } from './record/record-event.ts'
export {
  ActionEvent,
  ErrorEvent,
  LLMEvent,
  ToolEvent,
  type ActionEventOptions,
  type ErrorEventOptions,
  type EventMessage,
  type EventTimes,
  type LLMEventOptions,
  type PlayheadEvent,
  type ToolEventOptions,
} from './record/events.ts'
export {
  agent,
  recordAction,
  recordTool,
  type ActionOptions,
  type MethodDecorator,
  type ToolOptions,
} from './record/record-action.ts'
export type { AnyFunction } from './record/any-function.ts'
export type { SessionOptions } from './record/session-attributes.ts'
export { SessionView, type RecordedAction, type RecordedError } from './record/session-view.ts'
export { sessionEnvironment, sessionHeaders } from './record/current-headers.ts'
export type { SessionHeaders } from './record/session-headers.ts'
export { playheadSpanProcessor } from './record/span-processor.ts'
export type { PlayheadSpanProcessor } from './record/span-recorder.ts'
export type { InitOptions } from './record/settings.ts'
export { stats, type Stats } from './record/stats.ts'
export { wrapAnthropic } from './capture/wrap-anthropic.ts'
export { wrapGoogleGenAI } from './capture/wrap-google-genai.ts'
export { wrapOpenAI } from './capture/wrap-openai.ts'
export type {
  Effect,
  EndState,
  Message,
  Part,
  RedactRule,
  Session,
  SessionSummary,
  SessionTest,
  Step,
  StepError,
  StepKind,
  StepStatus,
  StepTool,
  Streaming,
  ToolDefinition,
  Usage,
} from '@playhead/model'
