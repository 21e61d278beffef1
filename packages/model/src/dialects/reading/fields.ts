import type { AttributeValue } from '../../otlp/span.ts'

const number = undefined as number | undefined
const text = undefined as string | undefined
const value = undefined as AttributeValue | undefined

const numbers = {
  inputTokens: number,
  outputTokens: number,
  totalTokens: number,
  cacheReadTokens: number,
  cacheWriteTokens: number,
  cacheWrite5mTokens: number,
  cacheWrite1hTokens: number,
  reasoningTokens: number,
  audioInputTokens: number,
  audioOutputTokens: number,
  imageInputTokens: number,
  aggregatedInputTokens: number,
  aggregatedOutputTokens: number,
  aggregatedCacheReadTokens: number,
  aggregatedCacheWriteTokens: number,
  cost: number,
  inputCost: number,
  outputCost: number,
  firstChunkSeconds: number,
  firstChunkMs: number,
  /** Seconds from some senders, milliseconds from others. */
  serverFirstToken: number,
  attempt: number,
  resendCount: number,
  testAttempt: number,
}

const texts = {
  stepKind: text,
  langfuseType: text,
  openInferenceKind: text,
  agentOpsKind: text,
  langSmithKind: text,
  mastraType: text,
  /** `span.type`, which has a known meaning only in Claude Code. */
  spanType: text,
  operation: text,
  vercelOperation: text,
  traceloopKind: text,
  requestType: text,
  haystackComponent: text,
  mlflowType: text,
  laminarType: text,
  genkitSubtype: text,
  genkitType: text,
  mcpMethod: text,
  databaseSystem: text,
  /** Any other key that ends like a span kind. */
  statedKind: text,
  requestModel: text,
  responseModel: text,
  /** The model, when it is unclear whether it was requested or responded. */
  model: text,
  /** A bare `model`, used only if other signs show that a model was called. */
  bareModel: text,
  provider: text,
  responseId: text,
  responseInput: text,
  toolName: text,
  toolCallId: text,
  toolType: text,
  toolDescription: text,
  toolStatus: text,
  entityName: text,
  /** `operation.name`: the name of a step in AgentOps, something else elsewhere. */
  operationLabel: text,
  agentName: text,
  functionId: text,
  graphNode: text,
  langGraphNode: text,
  /** The nodes around a step of LangGraph: `supervisor:<id>|agent:<id>`. */
  langGraphPath: text,
  handoffFrom: text,
  handoffTo: text,
  guardrailName: text,
  guardrailStatus: text,
  workflowName: text,
  dataSource: text,
  displayName: text,
  threadId: text,
  userId: text,
  sessionName: text,
  environment: text,
  serviceVersion: text,
  endState: text,
  endStateReason: text,
  effect: text,
  stepSource: text,
  branch: text,
  commit: text,
  testFile: text,
  testSuite: text,
  testName: text,
  testVariant: text,
  testRunId: text,
  rerunParent: text,
  rerunStep: text,
  rerunLane: text,
  errorType: text,
  errorMessage: text,
  level: text,
  levelMessage: text,
  state: text,
  completionStart: text,
  inputMimeType: text,
  outputMimeType: text,
  retrievalQuery: text,
  calledFunction: text,
}

const values = {
  input: value,
  output: value,
  systemInstructions: value,
  inputMessages: value,
  outputMessages: value,
  promptMessages: value,
  prompt: value,
  responseText: value,
  responseReasoning: value,
  responseToolCalls: value,
  responseObject: value,
  allMessages: value,
  llmRequest: value,
  llmResponse: value,
  unindexedPrompt: value,
  unindexedCompletion: value,
  toolDefinitions: value,
  toolArguments: value,
  toolParameters: value,
  toolResult: value,
  isToolError: value,
  calledFunctionArguments: value,
  invocationParameters: value,
  usageBuckets: value,
  usageObject: value,
  inputTokenDetails: value,
  outputTokenDetails: value,
  providerMetadata: value,
  costObject: value,
  finishReasons: value,
  isStreaming: value,
  tags: value,
  metadata: value,
  documents: value,
  guardrailTriggered: value,
  success: value,
  softError: value,
  stepError: value,
  streamChunks: value,
  streamAborted: value,
  truncated: value,
  demo: value,
  rerunEdit: value,
  isSessionRoot: value,
  spanData: value,
  agentsError: value,
  agentsObject: value,
  embeddingInput: value,
}

const noFields = { ...numbers, ...texts, ...values }

/**
 * The attributes of a span by meaning. Each field has the value of the first key, in the order of the dialects, that
 * is set.
 */
export type Fields = typeof noFields

export function emptyFields(): Fields {
  return { ...noFields }
}

export type NumberField = keyof typeof numbers
export type TextField = keyof typeof texts
export type ValueField = keyof typeof values
export type FieldName = keyof Fields

export const fieldNames = Object.keys(noFields) as FieldName[]

export function isTokenField(field: FieldName): boolean {
  return field.endsWith('Tokens')
}

export function isNumberField(field: FieldName): field is NumberField {
  return field in numbers
}

export function isTextField(field: FieldName): field is TextField {
  return field in texts
}
