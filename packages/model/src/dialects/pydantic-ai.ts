import type { Message } from '../session/message.ts'
import { isRecord, toText } from '../json/attribute-value.ts'
import { mapWords } from '../json/word-table.ts'
import type { StepKind } from '../session/step.ts'
import type { Dialect, KindResult, SpanReading } from './reading/dialect.ts'
import { messagesOfEvent } from './reading/event-messages.ts'
import { ofKind } from './reading/kind-words.ts'
import { readJson } from './reading/payload.ts'
import { toMessage } from '../providers/messages.ts'

/** pydantic-ai and Logfire; mostly OTel GenAI from version 3 on. */
export const pydanticAi: Dialect = {
  name: 'pydantic-ai',
  signs: ['pydantic_ai.', 'gen_ai.aggregated_usage.'],
  scopes: ['pydantic-ai', 'pydantic_ai', 'logfire'],
  numbers: {
    aggregatedInputTokens: ['gen_ai.aggregated_usage.input_tokens'],
    aggregatedOutputTokens: ['gen_ai.aggregated_usage.output_tokens'],
    aggregatedCacheReadTokens: [
      'gen_ai.aggregated_usage.cache_read.input_tokens',
      'gen_ai.aggregated_usage.details.cache_read_tokens',
    ],
    aggregatedCacheWriteTokens: [
      'gen_ai.aggregated_usage.cache_creation.input_tokens',
      'gen_ai.aggregated_usage.details.cache_write_tokens',
    ],
    cacheReadTokens: ['gen_ai.usage.details.cache_read_tokens'],
    cacheWriteTokens: ['gen_ai.usage.details.cache_write_tokens'],
    reasoningTokens: ['gen_ai.usage.details.reasoning_tokens'],
    audioInputTokens: ['gen_ai.usage.details.input_audio_tokens'],
    cost: ['operation.cost'],
  },
  texts: { displayName: ['logfire.msg'] },
  values: {
    output: ['final_result'],
    toolArguments: ['tool_arguments'],
    toolResult: ['tool_response'],
    allMessages: ['pydantic_ai.all_messages', 'all_messages_events', 'events'],
    invocationParameters: ['model_request_parameters', 'model_config'],
  },
  expand: nameAgentsAndTools,
  kind: readKind,
  inputMessages: (reading) => select(reading, false),
  outputMessages: (reading) => select(reading, true),
}

/** Logfire's spans of OpenAI Agents: the name of the span is a template, the attribute `name` fills it. */
const logfireKinds = mapWords({
  agent: 'Agent',
  action: 'Function',
  handoff: 'Handoff',
  guardrail: 'Guardrail',
})

function logfireKind({ span }: SpanReading): StepKind | undefined {
  if (span.scope.name !== 'logfire.openai_agents') return undefined
  return logfireKinds.get(/^\w+(?=(?: run)?:)/.exec(span.name)?.[0] ?? '')
}

function nameAgentsAndTools(reading: SpanReading): void {
  const { fields, span } = reading
  const kind = logfireKind(reading)
  const name = kind === undefined ? undefined : toText(span.attributes.name)
  if (kind === 'agent') fields.agentName ??= name
  if (kind === 'action') fields.toolName ??= name
  if (kind === 'guardrail') fields.guardrailName ??= name
}

const severalTools = /^running \d+ tools?$/

/** Up to version 2 only span names tell the kind: "agent run", "running tool", "running 2 tools". */
function readKind(reading: SpanReading): KindResult | undefined {
  const { fields, span } = reading
  const kind = logfireKind(reading)
  if (kind !== undefined) return ofKind(kind)
  if (severalTools.test(span.name)) return ofKind('workflow')
  if (span.name.startsWith('running tool')) return ofKind('action')
  const isRun = span.name === 'agent run' || span.name.endsWith(' run')
  return isRun && (fields.allMessages !== undefined || fields.output !== undefined)
    ? ofKind('agent')
    : undefined
}

/** One list has the whole conversation; the last message of the model is its reply. */
function select(reading: SpanReading, isOutput: boolean): Message[] | undefined {
  const list = readJson(reading, reading.fields.allMessages)
  if (!Array.isArray(list)) return undefined
  const messages = list.flatMap(readEntry)
  const last = messages.at(-1)
  const hasAnswer = last !== undefined && (last.isOutput === true || last.role === 'assistant')
  const chosen = isOutput ? (hasAnswer ? [last] : []) : hasAnswer ? messages.slice(0, -1) : messages
  return chosen.length === 0 ? undefined : chosen
}

function readEntry(entry: unknown): Message[] {
  if (isRecord(entry) && typeof entry['event.name'] === 'string') {
    return messagesOfEvent(entry['event.name'], entry) ?? []
  }
  const message = toMessage(entry, 'user')
  return message === undefined ? [] : [message]
}
