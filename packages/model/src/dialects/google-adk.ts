import type { Message } from '../session/message.ts'
import { isMeaningful } from '../json/attribute-value.ts'
import type { Dialect, KindResult, SpanReading } from './reading/dialect.ts'
import { ofKind } from './reading/kind-words.ts'
import { messagesOfRequest, messagesOfResponse } from '../providers/payload.ts'
import { readJson } from './reading/payload.ts'

/** Google's Agent Development Kit. */
export const googleAdk: Dialect = {
  name: 'google-adk',
  signs: ['gcp.vertex.agent.'],
  scopes: ['gcp.vertex.agent', 'google.adk', 'google-adk'],
  texts: { threadId: ['gcp.vertex.agent.session_id'] },
  values: {
    llmRequest: ['gcp.vertex.agent.llm_request'],
    llmResponse: ['gcp.vertex.agent.llm_response'],
    toolArguments: ['gcp.vertex.agent.tool_call_args'],
    toolResult: ['gcp.vertex.agent.tool_response'],
    input: ['gcp.vertex.agent.data'],
  },
  kind: readKind,
  inputMessages: (reading) => read(reading, reading.fields.llmRequest, messagesOfRequest),
  outputMessages: (reading) => read(reading, reading.fields.llmResponse, messagesOfResponse),
}

function readKind({ span }: SpanReading): KindResult | undefined {
  const { name } = span
  if (name === 'call_llm') return ofKind('llm')
  if (name.startsWith('execute_tool')) return ofKind('action')
  if (name.startsWith('invoke_agent') || name.startsWith('agent_run')) return ofKind('agent')
  return name === 'invocation' ? ofKind('workflow') : undefined
}

/** Spans of tools have an empty request and response, "{}". */
function read(
  reading: SpanReading,
  value: unknown,
  messagesOf: (payload: unknown) => Message[] | undefined,
): Message[] | undefined {
  if (value === undefined || value === '{}') return undefined
  const payload = readJson(reading, value)
  return isMeaningful(payload) && typeof payload === 'object' ? messagesOf(payload) : undefined
}
