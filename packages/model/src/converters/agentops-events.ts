import { emptyAttributes, type Attributes, type LogRecord, type Span } from '../otlp/span.ts'
import { firstText, isMeaningful, isRecord, toText, type JsonObject } from '../json/attribute-value.ts'
import {
  agentOpsAgentToSpan,
  agentOpsSource,
  agentOpsRootId,
  agentOpsSessionId,
  agentOpsSpan,
  agentOpsStepId,
} from './agentops-session.ts'
import { parseJson } from '../json/json-text.ts'
import { parseIsoTimeNs, setAttribute, toAttribute } from './json-fields.ts'

export type AgentOpsItems = { spans: Span[]; logs: LogRecord[] }

type Place = { sessionId: string; receivedAtNs: bigint }

/** Converts an event of AgentOps' v2 API to spans and log records, or returns why it cannot. */
export function agentOpsEventToItems(
  item: unknown,
  context: { sessionId: string | undefined; receivedAtNs: bigint },
): AgentOpsItems | string {
  if (!isRecord(item)) return 'an event must be an object'
  const event = isRecord(item.data) ? { ...item.data, ...item } : item
  const sessionId = agentOpsSessionId(event.session_id) ?? context.sessionId
  if (sessionId === undefined) return 'it has no session: neither "session_id" nor the token names one'
  const place = { sessionId, receivedAtNs: context.receivedAtNs }
  if (event.event_type === 'errors') return errorItems(event, place)
  const id = toText(event.id)
  if (id === undefined) return 'it has no "id"'
  const span = eventSpan(event, { ...place, id })
  return { spans: [span, ...agentSpans(event, place)], logs: logsOf(event, span) }
}

function eventSpan(event: JsonObject, place: Place & { id: string }): Span {
  const attributes = emptyAttributes()
  const type = toText(event.event_type) ?? 'actions'
  attributes['agentops.event.type'] = type
  let name: string
  if (type === 'llms') name = addModelCall(event, attributes)
  else name = addAction(event, type, attributes)
  setAttribute(attributes, 'agentops.event.screenshot', event.screenshot)
  setAttribute(attributes, 'agentops.agent.id', event.agent_id)
  return agentOpsSpan(place.sessionId, agentOpsStepId(place.id), {
    parentSpanId: parentOf(event, place.sessionId),
    name,
    ...timesOf(event, place.receivedAtNs),
    attributes,
  })
}

function addAction(event: JsonObject, type: string, attributes: Attributes): string {
  const name = firstText(event.action_type, event.name, event.tool_name) ?? type
  attributes['agentops.span.kind'] = type === 'apis' ? 'http' : 'tool'
  attributes['operation.name'] = name
  const parameters = withoutSelf(event.params)
  if (isMeaningful(parameters)) setAttribute(attributes, 'agentops.tool.input', parameters)
  setAttribute(attributes, 'agentops.tool.output', resultOf(event.returns))
  return name
}

/** An empty list or object is a result, but an empty attribute would be ignored. */
function resultOf(returns: unknown): unknown {
  const isEmpty = typeof returns === 'object' && returns !== null && !isMeaningful(returns)
  return isEmpty ? JSON.stringify(returns) : returns
}

/** The decorators record a method's `self` as an empty argument. */
function withoutSelf(params: unknown): unknown {
  if (!isRecord(params) || params.self !== '') return params
  const { self: _, ...others } = params
  return others
}

/** Parameters of a model call, without messages and tools. */
const callSettings = [
  'temperature',
  'top_p',
  'max_tokens',
  'seed',
  'stream',
  'stop',
  'frequency_penalty',
  'n',
]

function addModelCall(event: JsonObject, attributes: Attributes): string {
  const params = isRecord(event.params) ? event.params : {}
  const model = toText(event.model)
  attributes['agentops.span.kind'] = 'llm'
  setAttribute(attributes, 'gen_ai.request.model', toText(params.model) ?? model)
  setAttribute(attributes, 'gen_ai.response.model', model)
  setAttribute(attributes, 'gen_ai.input.messages', messagesOf(event.prompt))
  setAttribute(attributes, 'gen_ai.output.messages', messagesOf(event.completion))
  for (const key of callSettings) setAttribute(attributes, `gen_ai.request.${key}`, params[key])
  setAttribute(attributes, 'gen_ai.tool.definitions', isMeaningful(params.tools) ? params.tools : null)
  setAttribute(attributes, 'gen_ai.usage.total_cost', event.cost)
  setAttribute(attributes, 'agentops.thread.id', event.thread_id)
  const response = parseJson(event.returns)
  const returns = isRecord(response) ? response : undefined
  if (returns !== undefined) setAttribute(attributes, 'agentops.llm.output', returns)
  // A complete response reports tokens in more detail than the event.
  if (!isMeaningful(returns?.usage)) {
    setAttribute(attributes, 'gen_ai.usage.prompt_tokens', event.prompt_tokens)
    setAttribute(attributes, 'gen_ai.usage.completion_tokens', event.completion_tokens)
  }
  return model ?? 'llm'
}

/** Accepts a text, a message, a list of messages, or an object that contains the list. */
function messagesOf(value: unknown): unknown {
  if (!isMeaningful(value)) return null
  if (Array.isArray(value)) return value
  return isRecord(value) && Array.isArray(value.messages) ? value.messages : [value]
}

/**
 * SDKs up to 0.3.19 name the step that failed. Later ones do not: then the error becomes a step, named after the
 * recorded function in its stack trace.
 */
function errorItems(event: JsonObject, place: Place): AgentOpsItems {
  const exception = exceptionOf(event)
  const { startNs } = timesOf(event, place.receivedAtNs)
  const trigger = toText(event.trigger_event_id)
  if (trigger !== undefined) return { spans: [], logs: [errorRecord(trigger, { exception, startNs, place })] }
  const failed = failedFunction(toText(event.logs) ?? '')
  const attributes = emptyAttributes()
  attributes['agentops.event.type'] = 'errors'
  attributes['agentops.span.kind'] = failed === undefined ? 'error' : 'tool'
  const name = failed ?? exception.type
  attributes['operation.name'] = name
  setAttribute(attributes, 'agentops.event.code', event.code)
  setAttribute(attributes, 'agentops.agent.id', event.agent_id)
  const id = toText(event.id) ?? `${place.sessionId} ${startNs} ${exception.type} ${exception.message}`
  const span = agentOpsSpan(place.sessionId, agentOpsStepId(id), {
    parentSpanId: parentOf(event, place.sessionId),
    name,
    ...timesOf(event, place.receivedAtNs),
    attributes,
  })
  span.statusCode = 2
  span.statusMessage = `${exception.type}: ${exception.message}`
  span.events = [{ name: 'exception', timeNs: span.startNs, attributes: exception.attributes }]
  return { spans: [span, ...agentSpans(event, place)], logs: [] }
}

type Exception = { type: string; message: string; attributes: Attributes }

function exceptionOf(event: JsonObject): Exception {
  const type = toText(event.error_type) ?? 'Error'
  const details: unknown = event.details
  const message = toText(details) ?? (isMeaningful(details) ? JSON.stringify(details) : '')
  const attributes = emptyAttributes()
  attributes['exception.type'] = type
  attributes['exception.message'] = message
  const stack = toText(event.logs)
  // Python prints this when there is no exception.
  if (stack !== undefined && stack.trim() !== 'NoneType: None') attributes['exception.stacktrace'] = stack
  return { type, message, attributes }
}

function errorRecord(
  trigger: string,
  { exception, startNs, place }: { exception: Exception; startNs: bigint; place: Place },
): LogRecord {
  return {
    ...agentOpsSource,
    traceId: place.sessionId,
    spanId: agentOpsStepId(trigger),
    timeNs: startNs,
    severity: 'error',
    name: 'operation.exception',
    body: `${exception.type}: ${exception.message}`,
    attributes: exception.attributes,
  }
}

const wrapperFrame = /agentops[/\\]decorators\.py", line \d+, in \w+$/
const anyFrame = /^ *File ".*", line \d+, in (\w+)$/

/** Finds the function that AgentOps' decorator called in a stack trace. */
function failedFunction(stack: string): string | undefined {
  const lines = stack.split('\n')
  const wrapper = lines.findIndex((line) => wrapperFrame.test(line))
  if (wrapper === -1) return undefined
  for (const line of lines.slice(wrapper + 1)) {
    const name = anyFrame.exec(line)?.[1]
    if (name !== undefined) return name
  }
  return undefined
}

/** The logs attached to an event. */
function logsOf(event: JsonObject, span: Span): LogRecord[] {
  if (!isMeaningful(event.logs)) return []
  return [
    {
      ...agentOpsSource,
      traceId: span.traceId,
      spanId: span.spanId,
      timeNs: span.endNs ?? span.startNs,
      severity: 'info',
      name: '',
      body: toAttribute(event.logs),
      attributes: emptyAttributes(),
    },
  ]
}

function agentSpans(event: JsonObject, { sessionId }: Place): Span[] {
  const id = toText(event.agent_id)
  return id === undefined ? [] : [agentOpsAgentToSpan(sessionId, { id })]
}

function parentOf(event: JsonObject, sessionId: string): string {
  const agent = toText(event.agent_id)
  return agent === undefined ? agentOpsRootId(sessionId) : agentOpsStepId(agent)
}

function timesOf(event: JsonObject, receivedAtNs: bigint): { startNs: bigint; endNs: bigint | null } {
  const endNs = parseIsoTimeNs(event.end_timestamp) ?? parseIsoTimeNs(event.timestamp)
  const startNs =
    parseIsoTimeNs(event.init_timestamp) ?? parseIsoTimeNs(event.timestamp) ?? endNs ?? receivedAtNs
  return { startNs, endNs: endNs !== null && endNs < startNs ? startNs : endNs }
}
