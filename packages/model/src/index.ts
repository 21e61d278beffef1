export {
  alignSessions,
  isDivergent,
  type AlignedRow,
  type Alignment,
  type Divergence,
} from './align/align-sessions.ts'
export {
  describeDifference,
  describeDivergence,
  describeFirstDivergence,
} from './align/describe-divergence.ts'
export { isMinor, type Difference, type DifferenceKind } from './align/difference.ts'
export { diffWords, type WordDifference } from './align/diff-words.ts'
export type { EffectChange } from './align/effect-changes.ts'
export { stepResult, stepInput } from './session/step-input-output.ts'
export { assembleSession, groupLogs, presentSession, type SessionParts } from './assembly/assemble-session.ts'
export { fisherExact, mannWhitney, medianOf, shiftBetween } from './statistics/compare-samples.ts'
export { costRelevance, isSameCall, type ReportedCall } from './assembly/count-usage.ts'
export { agentOpsEventToItems, type AgentOpsItems } from './converters/agentops-events.ts'
export { agentOpsSessionId } from './converters/agentops-session.ts'
export { agentOpsLogToRecords } from './converters/agentops-log-text.ts'
export { agentOpsAgentToSpan, agentOpsSessionToSpan } from './converters/agentops-session.ts'
export { isAgentSpan, withoutContent } from './dialects/drafts/attribute-content.ts'
export { logsToSteps } from './dialects/logs/logs-to-steps.ts'
export { logToDraft, sessionOfLog } from './dialects/logs/log-to-draft.ts'
export { openAiAgentsItemToSpan } from './converters/openai-agents-items.ts'
export { NORMALIZER_VERSION, spanToStep } from './dialects/drafts/span-to-step.ts'
export {
  describeEndState,
  endStates,
  LOST_AFTER_MS,
  parseEndState,
  type EndState,
  type ReportedEndState,
} from './session/end-state.ts'
export { hasFailed, ownsError } from './session/failure.ts'
export { durationRange, numberRange, parseDuration, parseTime, type Range } from './format/filter-value.ts'
export { formatAge } from './format/format-time.ts'
export { describeCost, formatCost } from './format/format-number.ts'
export { countOf, formatBytes, formatCount, formatPercent } from './format/format-number.ts'
export { formatDuration, formatOffset } from './format/format-time.ts'
export type { LogAddition, LogContent, LogDraft, LogOutline } from './session/log-draft.ts'
export type { Message, Part, ToolDefinition } from './session/message.ts'
export {
  fillOneFile,
  ONE_FILE_MARKER,
  readOneFileIndex,
  readOneFileRecording,
  readOneFileReport,
  type OneFileDocument,
} from './recording/one-file.ts'
export { describeValue, textOfValue, visibleLines, visibleText } from './format/visible-text.ts'
export { isRecord, toObject, type JsonObject } from './json/attribute-value.ts'
export { parseJson } from './json/json-text.ts'
export { presentStep, type SessionLog } from './assembly/present-step.ts'
export { priceStep, type Price, type Pricer } from './prices/price.ts'
export type { PriceOverride } from './prices/price-override.ts'
export { argumentsOf, findProblems, type ArgumentProblem } from './session/problem.ts'
export {
  parseRecording,
  parseRecordingText,
  RECORDING_VERSION,
  toRecording,
  type Recording,
} from './recording/recording.ts'
export { anthropicMessages } from './providers/anthropic.ts'
export { writeMessage, writePart, writeTool, type ConventionPart } from './providers/conventions.ts'
export { geminiEmbed, geminiGenerate } from './providers/gemini.ts'
export type { ProviderMessage } from './providers/messages.ts'
export {
  readProviderError,
  type ModelApi,
  type ModelRequest,
  type ModelResponse,
  type Operation,
  type StreamAssembler,
} from './providers/model-api.ts'
export { ollamaChat, ollamaEmbed } from './providers/ollama.ts'
export { openAiChat } from './providers/openai-chat.ts'
export { openAiCompletions } from './providers/openai-completions.ts'
export { openAiEmbeddings } from './providers/openai-embeddings.ts'
export { openAiResponses } from './providers/openai-responses.ts'
export type { ProviderPart } from './providers/parts.ts'
export { createRedactor, type Redactor, type RedactRule } from './redaction/redact.ts'
export { REDACTED } from './redaction/secret-keys.ts'
export type { ResolvedStep } from './assembly/resolved-step.ts'
export { resolveSteps, type ResolveOptions } from './assembly/resolve-steps.ts'
export type { Session, SessionSummary, SessionTest } from './session/session.ts'
export {
  describeFilterField,
  sessionFilterFields,
  type SessionFilterField,
} from './session/session-filter.ts'
export { parseSessionIdPrefix, shortSessionId } from './session/session.ts'
export { correctLogTimes } from './assembly/correct-log-times.ts'
export { endStateAt, deriveEndState, type DerivedEndState } from './assembly/derive-end-state.ts'
export {
  emptyAttributes,
  type Attributes,
  type AttributeValue,
  type LogRecord,
  type Scope,
  type Span,
  type SpanEvent,
  type SpanLink,
} from './otlp/span.ts'
export {
  judgeSequence,
  judgeShare,
  passAtK,
  passHatK,
  wilson,
  type Interval,
  type SequentialOptions,
  type ShareVerdict,
  type Tries,
} from './statistics/statistics.ts'
export type {
  DialectFailure,
  SessionFacts,
  StepContent,
  StepDraft,
  StepOutline,
  TreeQuestion,
} from './session/step-draft.ts'
export { buildStepTree, type StepBranch } from './session/step-tree.ts'
export {
  endOffsetMs,
  stepKinds,
  stepName,
  stepTitle,
  type Effect,
  type LogEntry,
  type RetrievedDocument,
  type Step,
  type StepError,
  type StepKind,
  type StepStatus,
  type StepTool,
  type Streaming,
} from './session/step.ts'
export { summarizeSession, UNKNOWN_MODEL } from './assembly/summarize-session.ts'
export {
  buildTestReport,
  reportVerdicts,
  testTitle,
  type AgentTestResult,
  type AttemptResult,
  type TestResult,
  type ReportSession,
  type ReportTest,
  type ReportVerdict,
  type TestIdentity,
  type TestReport,
} from './statistics/test-report.ts'
export { renderTextReplay, type TextReplayOptions } from './text-replay/text-replay.ts'
export { addUsage, hasUsage, totalTokens, usageFields, type Usage, type UsageScope } from './session/usage.ts'
export { groupSpans } from './otlp/group-spans.ts'
export { REMOTE_PARENT_FLAGS, spansToOtlpJson, toSpanId, type OtlpTraces } from './otlp/spans-to-otlp-json.ts'
export { describeOrigin } from './provenance/describe-origin.ts'
export { createArgumentTracer, type ArgumentTracer } from './provenance/trace-arguments.ts'
export type { ArgumentOrigin, TrailStep } from './provenance/argument-origin.ts'
export type { TestHistory, TestRun } from './statistics/test-history.ts'
export type { Stats, StatsBucket, StatsFigures, StatsGroup, StatsInterval } from './statistics/stats.ts'
export type {
  DecisionGraph,
  GraphEdge,
  GraphFailure,
  GraphNode,
  GraphVariant,
} from './statistics/decision-graph.ts'
