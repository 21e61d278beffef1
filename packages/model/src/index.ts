export { alignSessions, isDivergent, type AlignedRow, type Alignment } from './align/align-sessions.ts'
export { describeDifference, describeFirstDivergence } from './align/describe-divergence.ts'
export { diffWords, type WordDifference } from './align/diff-words.ts'
export { isMinor, type Difference, type DifferenceKind } from './align/difference.ts'
export type { EffectChange } from './align/effect-changes.ts'
export {
  assembleSession,
  contentReader,
  groupLogs,
  presentSession,
  sourcesOf,
} from './assembly/assemble-session.ts'
export { correctLogTimes } from './converters/agentops-log-text.ts'
export { costRelevance, isSameCall, type ReportedCall } from './assembly/count-usage.ts'
export { deriveEndState, type DerivedEndState } from './assembly/derive-end-state.ts'
export { asOneSession, describeTrace, joinTraces, type Trace } from './assembly/join-traces.ts'
export { presentStep, type SessionLog } from './assembly/present-step.ts'
export { resolveSteps } from './assembly/resolve-steps.ts'
export type { ResolvedStep } from './assembly/resolved-step.ts'
export { summarizeSession, type TagEdits } from './assembly/summarize-session.ts'
export { trimOutlines } from './assembly/trim-outlines.ts'
export { agentOpsEventToItems, type AgentOpsItems } from './converters/agentops-events.ts'
export { agentOpsLogToRecords } from './converters/agentops-log-text.ts'
export {
  agentOpsAgentToSpan,
  agentOpsSessionId,
  agentOpsSessionToSpan,
} from './converters/agentops-session.ts'
export { openAiAgentsItemToSpan } from './converters/openai-agents-items.ts'
export { isAgentSpan, withoutContent } from './dialects/drafts/attribute-content.ts'
export { copiesToStep, type SpanCopy } from './dialects/drafts/join-copies.ts'
export { NORMALIZER_VERSION, spanToStep } from './dialects/drafts/span-to-step.ts'
export { logToDraft, sessionOfLog } from './dialects/logs/log-to-draft.ts'
export { logsToSteps } from './dialects/logs/logs-to-steps.ts'
export { durationRange, numberRange, parseDuration, parseTime } from './format/filter-value.ts'
export {
  countOf,
  describeCost,
  formatBytes,
  formatCost,
  formatCount,
  formatPercent,
} from './format/format-number.ts'
export { formatAge, formatDuration, formatOffset } from './format/format-time.ts'
export {
  describeValue,
  safeForLog,
  textOfValue,
  visibleLines,
  visibleText,
  withoutCommands,
} from './format/visible-text.ts'
export { isRecord, toObject, type JsonObject } from './json/attribute-value.ts'
export { parseJson } from './json/json-text.ts'
export { groupSpans } from './otlp/group-spans.ts'
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
export { REMOTE_PARENT_FLAGS, spansToOtlpJson, toSpanId } from './otlp/spans-to-otlp-json.ts'
export type { PriceOverride } from './prices/price-override.ts'
export { priceStep, type Pricer } from './prices/price.ts'
export type { ArgumentOrigin } from './provenance/argument-origin.ts'
export { describeOrigin } from './provenance/describe-origin.ts'
export { createArgumentTracer, type ArgumentTracer } from './provenance/trace-arguments.ts'
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
export {
  fillOneFile,
  readOneFileIndex,
  readOneFileRecording,
  readOneFileReport,
} from './recording/one-file.ts'
export {
  parseRecording,
  parseRecordingText,
  RECORDING_VERSION,
  toRecording,
  type Recording,
} from './recording/recording.ts'
export { createRedactor, type Redactor, type RedactRule } from './redaction/redact.ts'
export { REDACTED } from './redaction/secret-keys.ts'
export {
  describeEndState,
  endStates,
  LOST_AFTER_MS,
  parseEndState,
  type EndState,
} from './session/end-state.ts'
export { describeAbort } from './session/aborted-stream.ts'
export {
  findCallsWithoutUsage,
  describeMissingCost,
  findMissingCosts,
  NO_USAGE,
  type MissingCosts,
} from './session/calls-without-usage.ts'
export { hasFailed, ownsError } from './session/failure.ts'
export type { LogDraft, LogOutline } from './session/log-draft.ts'
export type { Message, Part, ToolDefinition } from './session/message.ts'
export { argumentsOf, findProblems, type ArgumentProblem } from './session/problem.ts'
export {
  describeFilterField,
  sessionFilterFields,
  type SessionFilterField,
} from './session/session-filter.ts'
export {
  parseSessionIdPrefix,
  shortSessionId,
  type Session,
  type SessionSummary,
  type SessionTest,
  UNKNOWN_MODEL,
} from './session/session.ts'
export type {
  DialectFailure,
  StepContent,
  StepDraft,
  StepOutline,
  ToolAnswer,
  ToolRequest,
} from './session/step-draft.ts'
export { stepInput, stepResult } from './session/step-input-output.ts'
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
  type StepChange,
  type StepError,
  type StepKind,
  type StepStatus,
  type StepTool,
  type Streaming,
} from './session/step.ts'
export { totalTokens, type Usage } from './session/usage.ts'
export { fisherExact, mannWhitney, medianOf, shiftBetween } from './statistics/compare-samples.ts'
export type {
  DecisionGraph,
  GraphEdge,
  GraphFailure,
  GraphNode,
  GraphVariant,
} from './statistics/decision-graph.ts'
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
export type { Stats, StatsBucket, StatsFigures, StatsGroup, StatsInterval } from './statistics/stats.ts'
export type { TestHistory, TestRun } from './statistics/stats.ts'
export {
  buildTestReport,
  reportVerdicts,
  testTitle,
  type AgentTestResult,
  type ReportSession,
  type ReportTest,
  type ReportVerdict,
  type TestIdentity,
  type TestLocation,
  type TestReport,
  type TestResult,
} from './statistics/test-report.ts'
export { renderReplayParts, renderTextReplay } from './text-replay/text-replay.ts'
export { isMiss, Tape, type TapeOptions } from './tape/tape.ts'
export { recordedResult, type ActionEntry, type TapeEntry } from './tape/tape-entry.ts'
export { findTapeGaps, type TapeGap } from './tape/tape-gaps.ts'
export type { TapeMiss } from './tape/tape-miss.ts'
export { missResponse, rebuildResponse, type TapedResponse } from './tape/rebuild-response.ts'
