import { mapWords } from '../json/word-table.ts'
import type { StepKind } from '../session/step.ts'
import type { Dialect, KindResult, SpanReading } from './reading/dialect.ts'
import { isInnerNode } from './reading/graph-nodes.ts'
import { ofKind, kindOfWord } from './reading/kind-words.ts'
import { readJson } from './reading/payload.ts'
import { recentMessages } from './reading/recent-messages.ts'
import { toMessages } from '../providers/messages.ts'

const kinds = mapWords({
  llm: `
    chat text_completion generate_content completion acompletion generate generate_text responses response
    messages image_generation speech transcription
  `,
  embedding: 'embeddings embedding',
  retrieval: 'retrieval retrieve rerank',
  action: 'execute_tool search_memory create_memory update_memory upsert_memory delete_memory',
  agent: 'invoke_agent create_agent',
  workflow: 'invoke_workflow plan agent_step execute_event_loop_cycle execute_task',
  handoff: 'handoff',
  guardrail: 'guardrail.run guard apply_guardrail run_guardrail',
  evaluator: 'evaluate',
})

/** Other spellings of operations: `chat.completions`, `invoke_swarm`. */
const spellings: [RegExp, StepKind][] = [
  [/embed/, 'embedding'],
  [/^chat|completions?$/, 'llm'],
  [/execute_tool|tool_call|call_tool/, 'action'],
  [/invoke_agent|run_agent|agent_run|agent\.run/, 'agent'],
  [/^invoke_/, 'workflow'],
]

/** The OpenTelemetry semantic conventions for generative AI, from 1.27 to 2026. */
export const otelGenAi: Dialect = {
  name: 'otel-genai',
  signs: ['gen_ai.'],
  scopes: ['gen_ai'],
  numbers: {
    inputTokens: ['gen_ai.usage.input_tokens', 'gen_ai.usage.prompt_tokens'],
    outputTokens: ['gen_ai.usage.output_tokens', 'gen_ai.usage.completion_tokens'],
    totalTokens: ['gen_ai.usage.total_tokens'],
    cacheReadTokens: ['gen_ai.usage.cache_read.input_tokens', 'gen_ai.usage.cache_read_input_tokens'],
    cacheWriteTokens: [
      'gen_ai.usage.cache_write.input_tokens',
      'gen_ai.usage.cache_creation.input_tokens',
      'gen_ai.usage.cache_creation_input_tokens',
      'gen_ai.usage.cache_write_input_tokens',
    ],
    reasoningTokens: ['gen_ai.usage.reasoning.output_tokens', 'gen_ai.usage.reasoning_tokens'],
    audioInputTokens: ['gen_ai.usage.audio.input_tokens', 'gen_ai.usage.audio_input_tokens'],
    audioOutputTokens: ['gen_ai.usage.audio.output_tokens', 'gen_ai.usage.audio_output_tokens'],
    imageInputTokens: ['gen_ai.usage.image.input_tokens'],
    firstChunkSeconds: ['gen_ai.response.time_to_first_chunk', 'gen_ai.client.operation.time_to_first_chunk'],
    serverFirstToken: ['gen_ai.server.time_to_first_token'],
    resendCount: ['http.request.resend_count'],
  },
  texts: {
    operation: ['gen_ai.operation.name'],
    requestModel: ['gen_ai.request.model'],
    responseModel: ['gen_ai.response.model'],
    provider: ['gen_ai.provider.name', 'gen_ai.system'],
    responseId: ['gen_ai.response.id'],
    toolName: ['gen_ai.tool.name'],
    toolCallId: ['gen_ai.tool.call.id', 'gen_ai.tool.call_id'],
    toolType: ['gen_ai.tool.type'],
    toolDescription: ['gen_ai.tool.description'],
    agentName: ['gen_ai.agent.name'],
    workflowName: ['gen_ai.workflow.name'],
    dataSource: ['gen_ai.data_source.id'],
    threadId: ['session.id', 'gen_ai.conversation.id'],
    userId: ['user.id', 'enduser.id'],
    environment: ['deployment.environment.name', 'deployment.environment'],
    serviceVersion: ['service.version'],
    errorType: ['error.type'],
    errorMessage: ['error.message'],
    retrievalQuery: ['gen_ai.retrieval.query.text', 'gen_ai.memory.query.text'],
    databaseSystem: ['db.system', 'db.system.name'],
  },
  values: {
    systemInstructions: ['gen_ai.system_instructions', 'gen_ai.agent.system_prompt'],
    inputMessages: ['gen_ai.input.messages'],
    outputMessages: ['gen_ai.output.messages'],
    toolDefinitions: ['gen_ai.tool.definitions'],
    toolArguments: ['gen_ai.tool.call.arguments'],
    toolResult: ['gen_ai.tool.call.result'],
    finishReasons: ['gen_ai.response.finish_reasons', 'gen_ai.response.finish_reason'],
    documents: ['gen_ai.retrieval.documents', 'gen_ai.memory.records'],
    isStreaming: ['gen_ai.request.stream'],
  },
  groups: {
    'gen_ai.evaluation.': 'evaluation',
    'gen_ai.request.functions.': 'functions',
    'gen_ai.request.tools.': 'functions',
    'gen_ai.request.': 'parameters',
    'db.vector.': 'vectorSearch',
  },
  kind: readKind,
  hasSharedMessageKeys: true,
  inputMessages: (reading) => messagesOf(reading, 'inputMessages'),
  outputMessages: (reading) => messagesOf(reading, 'outputMessages'),
}

/** Instrumentations call crews and tasks of CrewAI, and nodes of LangGraph, `invoke_agent` too. */
function isGroup(agent: string | undefined, provider: string | undefined, spanName: string): boolean {
  return agent === undefined ? /\.(?:workflow|task)$/.test(spanName) : isInnerNode(agent, provider)
}

function readKind({ fields, span }: SpanReading): KindResult | undefined {
  const operation = fields.operation?.toLowerCase()
  if (operation === undefined) return undefined
  if (operation === 'invoke_agent' && isGroup(fields.agentName, fields.provider, span.name))
    return ofKind('workflow')
  const known = kindOfWord(kinds, operation)
  if (known !== undefined) return known
  const kind = spellings.find(([spelling]) => spelling.test(operation))?.[1]
  return kind === undefined ? undefined : ofKind(kind)
}

function messagesOf(reading: SpanReading, field: 'inputMessages' | 'outputMessages') {
  const given = reading.fields[field]
  if (reading.isOutlineOnly && field === 'inputMessages' && typeof given === 'string') {
    const recent = recentMessages(given)
    if (recent !== undefined) return recent
  }
  const value = readJson(reading, given)
  if (!Array.isArray(value) && typeof value !== 'object') return undefined
  const messages = toMessages(value, field === 'inputMessages' ? 'user' : 'assistant')
  return messages.length === 0 ? undefined : messages
}
