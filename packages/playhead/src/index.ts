export {
  init,
  flush,
  playheadSpanProcessor,
  shutdown,
  type FlushOptions,
  type PlayheadSpanProcessor,
} from './runtime/init.ts'
export {
  addTags,
  endSession,
  getSession,
  sessionEnvironment,
  sessionHeaders,
  setMetadata,
  startSession,
  withSession,
  type EndSessionOptions,
  type EndStateWord,
} from './record/session/sessions.ts'
export { record } from './record/step/record-event.ts'
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
} from './record/step/events.ts'
export {
  agent,
  recordAction,
  recordTool,
  type ActionOptions,
  type MethodDecorator,
  type ToolOptions,
} from './record/step/record-action.ts'
export type { AnyFunction } from './record/step/parameter-names.ts'
export type { SessionOptions } from './record/session/session-attributes.ts'
export { SessionView, type RecordedAction, type RecordedError } from './record/session/session-view.ts'
export type { ScoreOptions } from './record/session/record-score.ts'
export type { SessionHeaders } from './record/session/session-headers.ts'
export type { InitOptions } from './runtime/settings.ts'
export {
  defineConfig,
  type AgentConfig,
  type AgentInput,
  type AgentRunContext,
  type PlayheadConfig,
} from './rerun/config.ts'
export { defineMonitors, type MonitorDefinition, type MonitorRule } from './rerun/define-monitors.ts'
export { stats, type Stats } from './runtime/stats.ts'
export { wrapAnthropic, wrapGoogleGenAI, wrapOpenAI } from './capture/hooks/wrap-client.ts'
export type {
  Effect,
  EndState,
  Message,
  Part,
  RedactRule,
  Score,
  ScoreSource,
  ScoreValue,
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
