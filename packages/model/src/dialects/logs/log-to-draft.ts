import type { LogAddition, LogDraft, LogOutline } from '../../session/log-draft.ts'
import type { LogRecord } from '../../otlp/span.ts'
import type { StepError } from '../../session/step.ts'
import type { SessionFacts } from '../../session/step-draft.ts'
import {
  firstText,
  isMeaningful,
  isRecord,
  toNumber,
  toText,
  type JsonObject,
} from '../../json/attribute-value.ts'
import { additionOfClaudeCode, isClaudeCodeLog, nameOfClaudeCodeLog, type Added } from './claude-code-logs.ts'
import { messagesOfEvent, OPERATION_DETAILS } from '../reading/event-messages.ts'
import { parseJson } from '../../json/json-text.ts'
import { previewOfInput, previewOfOutput } from '../drafts/preview.ts'
import { separateToolResults } from '../../providers/messages.ts'
import { toolAnswersIn, toolRequestsIn } from '../drafts/tool-use-in-messages.ts'
import { allDialects } from '../all-dialects.ts'
import { readResource } from '../reading/read-span.ts'
import { EVALUATION_RESULT, scoreOfLog } from '../drafts/scores-of-span.ts'
import { parseErrorMessage } from '../drafts/step-error.ts'

/** Converts a log record: messages, costs and errors that are sent as logs, and plain logs. */
export function logToDraft(log: LogRecord): LogDraft {
  const isClaudeCode = isClaudeCodeLog(log)
  const outline: LogOutline = {
    sessionId: sessionOfLog(log) ?? log.traceId,
    stepId: log.spanId,
    atMs: Number(log.timeNs) / 1e6,
    severity: log.severity,
    name: isClaudeCode ? nameOfClaudeCodeLog(log) : log.name,
  }
  const content: LogDraft['content'] = { body: log.body, attributes: log.attributes }
  const added = isClaudeCode ? additionOfClaudeCode(log) : additionOfEvent(log)
  if (isMeaningful(added.adds)) outline.adds = added.adds!
  if (added.messages !== undefined && added.messages.length > 0) content.messages = added.messages
  if (added.input !== undefined) content.input = added.input
  if (added.output !== undefined) content.output = added.output
  return { outline, content }
}

const hexTrace = /^[0-9a-f]{32}$/
const noTrace = /^0*$/

/**
 * The session of a record: its trace, or for Claude Code without traces its prompt or conversation. Undefined when it
 * belongs to none.
 */
export function sessionOfLog(log: LogRecord): string | undefined {
  if (!noTrace.test(log.traceId)) return log.traceId
  if (!isClaudeCodeLog(log)) return undefined
  return idOf(log.attributes['prompt.id']) ?? idOf(log.attributes['session.id'])
}

function idOf(uuid: unknown): string | undefined {
  const id = toText(uuid)?.replaceAll('-', '').toLowerCase()
  return id !== undefined && hexTrace.test(id) ? id : undefined
}

/** Reads events of the semantic conventions, from the body and the attributes. */
function additionOfEvent(log: LogRecord): Added {
  const name = log.name
  const isGenAi = name.startsWith('gen_ai.')
  const body = isGenAi ? parseJson(log.body) : undefined
  const payload = isRecord(body) ? { ...log.attributes, ...body } : withText(log.attributes, body)
  if (isException(name)) return { adds: { error: errorOf(payload), ...sessionOf(log) } }
  if (name === EVALUATION_RESULT) {
    const score = scoreOfLog(log, payload)
    return score === undefined ? {} : { adds: { scores: [score] } }
  }
  const messages = separateToolResults((isGenAi ? messagesOfEvent(name, payload) : undefined) ?? [])
  if (messages.length === 0) return {}
  const adds: LogAddition = sessionOf(log)
  adds.sequence =
    toNumber(payload['gen_ai.message.index']) ??
    toNumber(log.attributes['event.sequence']) ??
    usualOrder.indexOf(name)
  const input = previewOfInput(messages)
  if (input !== undefined) adds.inputPreview = input
  const output = previewOfOutput(messages)
  if (output !== undefined) adds.outputPreview = output
  const requests = toolRequestsIn(messages)
  if (requests.length > 0) adds.toolRequests = requests
  // Each message is a record of its own, so only an id tells which request a result answers.
  const answers = toolAnswersIn(messages).filter(({ id }) => id !== undefined)
  if (answers.length > 0) adds.toolAnswers = answers
  if (name === OPERATION_DETAILS) {
    const model = firstText(payload['gen_ai.response.model'], payload['gen_ai.request.model'])
    if (model !== undefined) adds.model = model
  }
  return { adds, messages }
}

/** The usual order of a conversation, for records with the same timestamp. */
const usualOrder = [
  'gen_ai.system.message',
  'gen_ai.user.message',
  'gen_ai.assistant.message',
  'gen_ai.tool.message',
  'gen_ai.choice',
]

function isException(name: string): boolean {
  return name === 'gen_ai.client.operation.exception' || name === 'operation.exception'
}

function withText(attributes: JsonObject, body: unknown): JsonObject {
  const text = toText(body)
  return text === undefined || attributes.content !== undefined
    ? attributes
    : { ...attributes, content: text }
}

function errorOf(payload: JsonObject): StepError {
  return parseErrorMessage(
    firstText(payload['exception.message'], payload['error.message'], payload.message) ?? '',
    firstText(payload['exception.type'], payload['error.type']),
    toText(payload['exception.stacktrace']),
  )
}

function sessionOf(log: LogRecord): { session?: SessionFacts } {
  const thread = firstText(log.attributes['session.id'], log.attributes['gen_ai.conversation.id'])
  const environment = readResource(log.resource, allDialects).environment
  const session: SessionFacts = {}
  if (thread !== undefined) session.threadId = thread
  if (thread !== undefined && environment !== undefined) session.environment = environment
  return isMeaningful(session) ? { session } : {}
}
