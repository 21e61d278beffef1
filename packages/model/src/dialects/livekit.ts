import { mapWords } from '../json/word-table.ts'
import type { Message } from '../session/message.ts'
import { isRecord } from '../json/attribute-value.ts'
import type { Dialect, SpanReading } from './reading/dialect.ts'
import { kindOfWord } from './reading/kind-words.ts'
import { readJson } from './reading/payload.ts'
import { addToolCalls, toMessages } from '../providers/messages.ts'

const kinds = mapWords({
  workflow: 'agent_session job_entrypoint user_turn llm_node tts_node',
  agent: 'agent_turn',
  llm: 'llm_request',
  action: 'function_tool',
  event: 'agent_speaking user_speaking eou_detection',
})

/** LiveKit agents. Since 2026 personal data is below `lk.pii.`. */
export const liveKit: Dialect = {
  name: 'livekit',
  signs: ['lk.'],
  scopes: ['livekit'],
  numbers: { firstChunkSeconds: ['lk.response.ttft', 'lk.response.ttfb'] },
  texts: {
    toolName: ['lk.function_tool.name'],
    toolCallId: ['lk.function_tool.id'],
    agentName: ['lk.agent_name', 'lk.agent_label'],
  },
  values: {
    input: ['user_input', 'user_transcript', 'input_text'].flatMap(both),
    output: both('response.text'),
    inputMessages: both('chat_ctx'),
    systemInstructions: both('instructions'),
    responseToolCalls: both('response.function_calls'),
    toolArguments: both('function_tool.arguments'),
    toolResult: both('function_tool.output'),
    isToolError: ['lk.function_tool.is_error'],
    usageObject: ['lk.llm_metrics', 'lk.realtime_model_metrics'],
  },
  kind: ({ span }) => kindOfWord(kinds, span.name),
  inputMessages: readInput,
  outputMessages: readOutput,
}

function both(name: string): string[] {
  return [`lk.${name}`, `lk.pii.${name}`]
}

function readInput(reading: SpanReading): Message[] | undefined {
  const context = readJson(reading, reading.fields.inputMessages)
  const items = isRecord(context) ? context.items : context
  if (!Array.isArray(items)) return undefined
  const messages = toMessages(items, 'user')
  return messages.length === 0 ? undefined : messages
}

function readOutput(reading: SpanReading): Message[] | undefined {
  const { output, responseToolCalls } = reading.fields
  const messages = toMessages(output, 'assistant')
  const message = messages[0] ?? { role: 'assistant', parts: [] }
  addToolCalls(message.parts, readJson(reading, responseToolCalls))
  return message.parts.length === 0 ? undefined : [message]
}
