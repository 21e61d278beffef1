import type { LogAddition } from '../../session/log-draft.ts'
import type { Message } from '../../session/message.ts'
import type { Attributes, LogRecord } from '../../otlp/span.ts'
import type { StepError } from '../../session/step.ts'
import type { SessionFacts } from '../../session/step-draft.ts'
import type { Usage } from '../../session/usage.ts'
import {
  firstText,
  isMeaningful,
  toCount,
  toFlag,
  toNumber,
  toText,
  toTokens,
} from '../../json/attribute-value.ts'
import { parseJson } from '../../json/json-text.ts'
import { oneLine, previewOfArguments } from '../drafts/preview.ts'
import { parseErrorMessage } from '../drafts/step-error.ts'
import { normalizeUsage, type RawUsage } from '../../providers/usage.ts'

const PREFIX = 'claude_code.'

/** What a record adds to its step, and its content. */
export type Added = { adds?: LogAddition; messages?: Message[]; input?: unknown; output?: unknown }

/** True for events of Claude Code, which it sends as logs, with or without traces. */
export function isClaudeCodeLog(log: Pick<LogRecord, 'scope' | 'body' | 'name'>): boolean {
  if (log.scope.name.startsWith('com.anthropic.claude_code')) return true
  return log.name.startsWith(PREFIX) || (typeof log.body === 'string' && log.body.startsWith(PREFIX))
}

/** The name of the event: the attribute `event.name`, or the body without its prefix. */
export function nameOfClaudeCodeLog(log: LogRecord): string {
  const name = firstText(log.attributes['event.name'], log.name, log.body) ?? 'event'
  return name.startsWith(PREFIX) ? name.slice(PREFIX.length) : name
}

/** What an event adds to its step. */
export function additionOfClaudeCode(log: LogRecord): Added {
  const { attributes } = log
  const adds: LogAddition = {}
  const session = sessionFacts(attributes)
  if (session !== undefined) adds.session = session
  const sequence = toNumber(attributes['event.sequence'])
  if (sequence !== undefined) adds.sequence = sequence
  switch (nameOfClaudeCodeLog(log)) {
    case 'user_prompt':
      return addPrompt(adds, attributes)
    case 'assistant_response':
      return addResponse(adds, attributes)
    case 'api_request':
      return addRequest(adds, attributes)
    case 'api_error':
      return addApiError(adds, attributes)
    case 'tool_result':
      return addToolResult(adds, attributes)
    default:
      return session === undefined ? {} : { adds: { session } }
  }
}

function sessionFacts(attributes: Attributes): SessionFacts | undefined {
  const facts: SessionFacts = {}
  const threadId = toText(attributes['session.id'])
  if (threadId !== undefined) facts.threadId = threadId
  const userId = toText(attributes['user.id'])
  if (userId !== undefined) facts.userId = userId
  return isMeaningful(facts) ? facts : undefined
}

function addPrompt(adds: LogAddition, attributes: Attributes): Added {
  const prompt = firstText(attributes.prompt, attributes.prompt_text)
  const preview = prompt === undefined ? undefined : oneLine(prompt)
  if (preview !== undefined) adds.inputPreview = preview
  return prompt === undefined ? { adds } : { adds, input: prompt }
}

function addResponse(adds: LogAddition, attributes: Attributes): Added {
  const response = toText(attributes.response)
  adds.joinTo = { kind: 'llm' }
  setModel(adds, attributes)
  if (response === undefined) return { adds }
  const preview = oneLine(response)
  if (preview !== undefined) adds.outputPreview = preview
  return {
    adds,
    messages: [{ role: 'assistant', parts: [{ type: 'text', text: response }], isOutput: true }],
  }
}

function addRequest(adds: LogAddition, attributes: Attributes): Added {
  adds.joinTo = { kind: 'llm' }
  setModel(adds, attributes)
  const usage = usageOfClaudeCode(attributes)
  if (usage !== undefined) adds.usage = usage
  const cost = toCount(attributes.cost_usd)
  if (cost !== undefined) adds.reportedCost = cost
  return { adds }
}

function addApiError(adds: LogAddition, attributes: Attributes): Added {
  adds.joinTo = { kind: 'llm' }
  setModel(adds, attributes)
  adds.error = apiError(attributes)
  return { adds }
}

function addToolResult(adds: LogAddition, attributes: Attributes): Added {
  const callId = toText(attributes.tool_use_id)
  adds.joinTo = callId === undefined ? { kind: 'action' } : { kind: 'action', toolCallId: callId }
  const input = toolInput(attributes)
  const preview = previewOfArguments(input)
  if (preview !== undefined) adds.inputPreview = preview
  const error = toolError(attributes)
  if (error !== undefined) adds.error = error
  return input === undefined ? { adds } : { adds, input }
}

function setModel(adds: LogAddition, attributes: Attributes): void {
  const model = toText(attributes.model)
  if (model !== undefined) adds.model = model
}

/** The tokens of one request; Anthropic reports input without cached tokens. */
export function usageOfClaudeCode(attributes: Attributes): Usage | undefined {
  const raw: RawUsage = {}
  for (const [field, key] of tokenKeys) {
    const count = toTokens(attributes[key])
    if (count !== undefined) raw[field] = count
  }
  return raw.input === undefined && raw.output === undefined
    ? undefined
    : normalizeUsage(raw, { isCacheApart: true })
}

const tokenKeys: [keyof RawUsage, string][] = [
  ['input', 'input_tokens'],
  ['output', 'output_tokens'],
  ['cacheRead', 'cache_read_tokens'],
  ['cacheWrite', 'cache_creation_tokens'],
  ['cacheWrite5m', 'cache_creation_5m_tokens'],
  ['cacheWrite1h', 'cache_creation_1h_tokens'],
]

export function toolInput(attributes: Attributes): unknown {
  const given = attributes.tool_input ?? attributes.tool_parameters
  return isMeaningful(given) ? parseJson(given) : undefined
}

/** The error of a failed action; undefined when it succeeded. */
export function toolError(attributes: Attributes): StepError | undefined {
  if (toFlag(attributes.success) !== false) return undefined
  const message = firstText(attributes.error, attributes.error_message) ?? 'The tool failed.'
  return parseErrorMessage(message, firstText(attributes.error_type) ?? 'ToolError')
}

export function apiError(attributes: Attributes): StepError {
  const status = toText(attributes.status_code)
  const message = firstText(attributes.error, attributes.error_message) ?? 'The request failed.'
  return parseErrorMessage(
    message,
    firstText(attributes.error_type) ?? (status === undefined ? 'ApiError' : `HTTP ${status}`),
  )
}
