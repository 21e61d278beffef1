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
export { collectScores, isScoreOnly } from './assembly/collect-scores.ts'
export { deriveEndState, type DerivedEndState } from './assembly/derive-end-state.ts'
export { asOneSession, describeTrace, joinTraces, type Trace } from './assembly/join-traces.ts'
export { isNamedByInput } from './assembly/name-session.ts'
export { costRelevance, isSameCall, isSameCallByFigures, type ReportedCall } from './assembly/same-call.ts'
export { presentStep, type SessionLog } from './assembly/present-step.ts'
export { resolveSteps } from './assembly/resolve-steps.ts'
export type { ResolvedStep } from './assembly/resolved-step.ts'
export { summarizeSession, type SummaryContext, type TagEdits } from './assembly/summarize-session.ts'
export { trimOutlines } from './assembly/trim-outlines.ts'
export { agentOpsEventToItems, type AgentOpsItems } from './converters/agentops-events.ts'
export { agentOpsLogToRecords, correctLogTimes } from './converters/agentops-log-text.ts'
export {
  agentOpsAgentToSpan,
  agentOpsSessionId,
  agentOpsSessionToSpan,
} from './converters/agentops-session.ts'
export { openAiAgentsItemToSpan } from './converters/openai-agents-items.ts'
export { isAgentSpan, withoutContent } from './dialects/drafts/attribute-content.ts'
export { copiesToStep, type SpanCopy } from './dialects/drafts/join-copies.ts'
export {
  countingScores,
  MAX_SCORE_COMMENT,
  MAX_SCORE_NAME,
  MAX_SCORE_WORD,
  scoreNumber,
  scoreSources,
  showScore,
  VERDICT,
  verdicts,
  type Score,
  type ScoreSource,
  type ScoreValue,
  type Verdict,
} from './session/score.ts'
export { EVALUATION_RESULT } from './dialects/drafts/scores-of-span.ts'
export { NORMALIZER_VERSION, spanContent, spanToOutline, spanToStep } from './dialects/drafts/span-to-step.ts'
export { logToDraft, sessionOfLog } from './dialects/logs/log-to-draft.ts'
export { logsToSteps } from './dialects/logs/logs-to-steps.ts'
export { called, type CalledOptions } from './expectations/called.ts'
export { costsLessThan, type CostLimit } from './expectations/cost.ts'
export {
  finishesWithin,
  readDuration,
  type DurationText,
  type FinishOptions,
} from './expectations/duration.ts'
export { hasNoErrors, type ErrorOptions } from './expectations/errors.ts'
export {
  anyOrder,
  type AgentCall,
  type AnyOrder,
  type ExpectedCall,
  type ToolCall,
  type TrajectoryMode,
} from './expectations/expected-call.ts'
export { hasNoLoops, type LoopOptions } from './expectations/loops.ts'
export type { ArgumentMode, ArgumentOptions, ExpectedArguments } from './expectations/match-arguments.ts'
export {
  before,
  directlyBefore,
  neverBoth,
  satisfiesOrder,
  type OrderRule,
} from './expectations/order-rules.ts'
export {
  fail,
  MAX_ITEMS,
  requireItems,
  requireList,
  requireNumber,
  requireOneOf,
  requireOptions,
  requireTest,
  requireText,
} from './expectations/required-argument.ts'
export { isSession, readSubject, type SessionSubject } from './expectations/session-subject.ts'
export {
  calledInOrder,
  hasEffects,
  matchesTrajectory,
  type EffectsOptions,
  type InOrderOptions,
  type TrajectoryOptions,
} from './expectations/trajectory.ts'
export type { Verdict as Expectation } from './expectations/verdict.ts'
export {
  DIAGNOSIS_VERSION,
  diagnoseSession,
  judgeInTurns,
  judgeSession,
  type Diagnosis,
  type DiagnosisContext,
} from './findings/diagnose-session.ts'
export { judgeMeasure, type Judged, type Measured } from './monitors/judge-measure.ts'
export {
  describeMonitor,
  formatMeasure,
  formatMonitorValue,
  formatWindow,
  measures,
  type Condition,
  type Measure,
  type Monitor,
  type MonitorFilter,
} from './monitors/monitor.ts'
export {
  monitorStates,
  newMonitorState,
  nextMonitorState,
  type MonitorState,
  type MonitorStateName,
  type Observation,
  type Transition,
} from './monitors/monitor-state.ts'
export { breakFinder } from './monitors/find-break.ts'
export { checkRule, describeRule, ruleKinds, type Rule } from './monitors/rule.ts'
export { maskDetails } from './findings/identify-issue.ts'
export type { Peers } from './findings/peers.ts'
export type { Usual } from './findings/outlier.ts'
export {
  findingKinds,
  namedSuspects,
  type Finding,
  type FindingEvidence,
  type FindingKind,
  type Findings,
  type Suspect,
} from './findings/finding.ts'
export { filterKeys, findFilterKey, type FilterKey } from './filter/filter-keys.ts'
export {
  durationRange,
  numberRange,
  parseDuration,
  parseScoreFilter,
  parseTime,
  type ScoreFilter,
} from './filter/filter-value.ts'
export {
  addTerm,
  parseFilter,
  removeTerm,
  writeTerm,
  writeValue,
  type FilterTerm,
} from './filter/parse-filter.ts'
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
  oneLine,
  describeValue,
  safeForLog,
  textOfValue,
  visibleLines,
  visibleText,
  withoutCommands,
} from './format/visible-text.ts'
export { isRecord, textOf, toObject, type JsonObject } from './json/attribute-value.ts'
export { parseJson } from './json/json-text.ts'
export { groupSpans } from './otlp/group-spans.ts'
export { stableId } from './otlp/stable-id.ts'
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
export { priceStep, type Price, type Pricer } from './prices/price.ts'
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
export { redactResponse } from './redaction/redact-json.ts'
export { REDACTED } from './redaction/secret-keys.ts'
export {
  describeEndState,
  endStates,
  LOST_AFTER_MS,
  parseEndState,
  type EndState,
} from './session/end-state.ts'
export { readAgentInput, type AgentInput } from './session/agent-input.ts'
export { describeAbort } from './session/aborted-stream.ts'
export {
  findCallsWithoutUsage,
  describeMissingCost,
  describeMissingUsage,
  findMissingCosts,
  isCostIncomplete,
  isOutputUnknown,
  NO_OUTPUT,
  NO_USAGE,
  type MissingCosts,
} from './session/calls-without-usage.ts'
export { nullArguments } from './session/null-arguments.ts'
export { hasFailed, ownsError } from './session/failure.ts'
export type { LogDraft, LogOutline } from './session/log-draft.ts'
export { wordsOf, type Message, type Part, type ToolDefinition } from './session/message.ts'
export { argumentsOf, findProblems, type ArgumentProblem } from './session/problem.ts'
export {
  asksForReruns,
  describeRerun,
  lanes,
  readForkEdit,
  type ForkEdit,
  type Lane,
} from './session/rerun.ts'
export { describeFilterField, sessionFilterFields, type SessionFilterField } from './filter/session-filter.ts'
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
export {
  inputMessagesOf,
  messageText,
  modelReply,
  stepInput,
  stepResult,
} from './session/step-input-output.ts'
export { fromSkeleton, isSkeleton, toSkeleton, type StepSkeleton } from './session/step-skeleton.ts'
export { buildStepTree, type StepBranch } from './session/step-tree.ts'
export {
  endOffsetMs,
  stepKinds,
  stepName,
  stepTitle,
  type Effect,
  type StepSource,
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
export { triesOf, weighForks, type Evidence } from './statistics/evidence.ts'
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
  Stats,
  StatsBucket,
  StatsFigures,
  StatsGroup,
  StatsInterval,
  StatsScore,
} from './statistics/stats.ts'
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
export { renderComparison } from './text-replay/text-comparison.ts'
export { renderReplayParts, renderTextReplay } from './text-replay/text-replay.ts'
export { liveSides, planAction, type ActionPlan, type ActionRules, type Replay } from './tape/action-rules.ts'
export { Budget, limitOutput, priceCall, SAFE_OUTPUT, worstUsage } from './tape/budget.ts'
export { modelOf, RequestEditor, withModel } from './tape/edit-request.ts'
export { withAnswer, withResult } from './tape/edit-step.ts'
export { findForkPoint, whyNotEditable } from './tape/fork-point.ts'
export { isMiss, Tape, type TapeOptions } from './tape/tape.ts'
export {
  readEntries,
  recordedResult,
  type ActionEntry,
  type ModelEntry,
  type TapeEntry,
} from './tape/tape-entry.ts'
export { findTapeGaps, whyNotServable, type TapeGap } from './tape/tape-gaps.ts'
export {
  keysOfPointer,
  pathOfPointer,
  recordedTypes,
  TYPES_KEY,
  type ValueType,
  type ValueTypes,
} from './tape/value-types.ts'
export type { TapeMiss } from './tape/tape-miss.ts'
export {
  cassetteFileName,
  parseCassette,
  readCassette,
  type Cassette,
  type CassetteAction,
  type CassetteAnswer,
  type CassetteEntry,
  type CassetteEvent,
  type CassetteMeta,
  type CassetteModelCall,
} from './tape/cassette.ts'
export { lintCassette, type CassetteFinding } from './tape/lint-cassette.ts'
export { nameApi, type NamedApi } from './tape/model-api-names.ts'
export { missResponse, type ConnectionFailure, type TapedResponse } from './tape/rebuild-response.ts'
export { sessionsToCassette, toCassetteAction } from './tape/session-to-cassette.ts'
export { respondFromEntry } from './tape/taped-response.ts'
export { assembleEvents, writeCassette } from './tape/write-cassette.ts'
export { findOtherSession } from './test-files/choose-other-session.ts'
export {
  testRunners,
  writeTestFiles,
  type TestFiles,
  type TestFilesOptions,
  type TestRunner,
} from './test-files/write-test-files.ts'
