import { mapWords } from '../json/word-table.ts'
import type { Message } from '../session/message.ts'
import type { AttributeValue } from '../otlp/span.ts'
import { isRecord, toText, type JsonObject } from '../json/attribute-value.ts'
import type { Dialect, KindResult, SpanReading } from './reading/dialect.ts'
import { ofKind, kindOfWord } from './reading/kind-words.ts'
import { messagesOfRequest, messagesOfResponse } from '../providers/payload.ts'

const kinds = mapWords({
  agent: 'agent',
  llm: 'generation response',
  action: 'function',
  handoff: 'handoff',
  guardrail: 'guardrail',
  workflow: 'turn task custom speech_group speech transcription',
  event: 'mcp_tools',
})

/** The SDK's default name of a run. */
export const DEFAULT_NAME = 'Agent workflow'

/** OpenAI Agents' own exporter; `openai-agents-items.ts` converts its items to spans. */
export const openAiAgents: Dialect = {
  name: 'openai-agents',
  signs: ['openai_agents.object', 'openai_agents.span_data'],
  texts: {
    sessionName: ['openai_agents.workflow_name'],
    threadId: ['openai_agents.group_id'],
  },
  values: {
    spanData: ['openai_agents.span_data'],
    agentsError: ['openai_agents.error'],
    agentsObject: ['openai_agents.object'],
    metadata: ['openai_agents.metadata'],
  },
  isUsageRollup: ({ fields }) => typeOfSpanData(fields.spanData) === 'task',
  expand,
  kind: readKind,
  inputMessages: ({ fields }) => ofPayload(fields.llmRequest, messagesOfRequest),
  outputMessages: ({ fields }) => ofPayload(fields.llmResponse, messagesOfResponse),
}

/** The type of a span by its data; turns and tasks arrive as `custom`. */
export function typeOfSpanData(data: unknown): string | undefined {
  if (!isRecord(data)) return undefined
  const inner = isRecord(data.data) ? toText(data.data.sdk_span_type) : undefined
  return inner ?? toText(data.type)
}

function readKind({ fields }: SpanReading): KindResult | undefined {
  if (fields.agentsObject === 'trace') return ofKind('workflow')
  return kindOfWord(kinds, typeOfSpanData(fields.spanData))
}

function expand({ fields }: SpanReading): void {
  if (fields.sessionName === DEFAULT_NAME) fields.sessionName = undefined
  const data = fields.spanData
  if (!isRecord(data)) return
  const details = (isRecord(data.data) ? { ...data, ...data.data } : data) as JsonObject
  switch (typeOfSpanData(data)) {
    case 'agent':
      fields.agentName ??= toText(data.name)
      break
    case 'generation':
    case 'response':
      expandCall(fields, details)
      break
    case 'function':
      fields.toolName ??= toText(data.name)
      fields.toolArguments ??= valueOf(data.input)
      fields.toolResult ??= valueOf(data.output)
      break
    case 'handoff':
      fields.handoffFrom ??= toText(data.from_agent)
      fields.handoffTo ??= toText(data.to_agent)
      break
    case 'guardrail':
      fields.guardrailName ??= toText(data.name)
      fields.guardrailTriggered ??= valueOf(data.triggered)
      break
    default:
      expandCustom(fields, details)
  }
}

/** An exported response has only its id; inside the process, `_input` and `_response` have the rest. */
function expandCall(fields: SpanReading['fields'], data: JsonObject): void {
  const response = data._response ?? data.response
  fields.requestModel ??= toText(data.model)
  fields.responseModel ??= isRecord(response) ? toText(response.model) : undefined
  fields.responseId ??= toText(data.response_id) ?? (isRecord(response) ? toText(response.id) : undefined)
  fields.usageObject ??= valueOf(data.usage ?? (isRecord(response) ? response.usage : undefined))
  fields.invocationParameters ??= valueOf(data.model_config)
  fields.systemInstructions ??= isRecord(response) ? valueOf(response.instructions) : undefined
  fields.toolDefinitions ??= isRecord(response) ? valueOf(response.tools) : undefined
  fields.llmRequest ??= valueOf(data._input ?? data.input)
  fields.llmResponse ??= valueOf(response ?? data.output)
}

function expandCustom(fields: SpanReading['fields'], details: JsonObject): void {
  fields.entityName ??= details.turn === undefined ? toText(details.name) : `turn ${toText(details.turn)}`
  fields.agentName ??= toText(details.agent_name)
  fields.usageObject ??= valueOf(details.usage)
  if (details.sdk_span_type === undefined && details.type === 'custom') {
    fields.output ??= valueOf(details.data)
  }
}

function valueOf(value: unknown): AttributeValue | undefined {
  return value === undefined || value === null ? undefined : (value as AttributeValue)
}

function ofPayload(
  payload: unknown,
  messagesOf: (payload: unknown) => Message[] | undefined,
): Message[] | undefined {
  return payload === undefined ? undefined : messagesOf(payload)
}
