import type { Message } from '../../session/message.ts'
import { isRecord, type JsonObject } from '../../json/attribute-value.ts'
import { parseJson, parseJsonText } from '../../json/json-text.ts'
import { messagesOfRequest, messagesOfResponse } from '../../providers/payload.ts'
import { asOutput, normaliseRole, textMessage, toMessage, toMessages } from '../../providers/messages.ts'
import { toPart } from '../../providers/parts.ts'

/** Events that carry messages; they have the same names on spans and in logs. */
const messageEvents = new Map([
  ['gen_ai.system.message', 'system'],
  ['gen_ai.user.message', 'user'],
  ['gen_ai.assistant.message', 'assistant'],
  ['gen_ai.tool.message', 'tool'],
  ['gen_ai.choice', 'assistant'],
])

export const OPERATION_DETAILS = 'gen_ai.client.inference.operation.details'

/** The messages of an event, with those of the reply marked; undefined for other events. */
export function messagesOfEvent(name: string, payload: JsonObject): Message[] | undefined {
  const role = messageEvents.get(name)
  if (role !== undefined) return messagesOfMessageEvent(name, role, payload)
  if (name === OPERATION_DETAILS) return messagesOfDetails(payload)
  if (name === 'gen_ai.content.prompt') return messagesOfRequest(parseJson(payload['gen_ai.prompt'])) ?? []
  if (name === 'gen_ai.content.completion') {
    return asOutput(messagesOfResponse(parseJson(payload['gen_ai.completion'])) ?? [])
  }
  return undefined
}

function messagesOfDetails(payload: JsonObject): Message[] {
  const system = textMessage('system', parseJson(payload['gen_ai.system_instructions']))
  const input = parseJson(payload['gen_ai.input.messages'])
  const output = parseJson(payload['gen_ai.output.messages'])
  return [
    ...(system === undefined ? [] : [system]),
    ...(input === undefined ? [] : toMessages(input, 'user')),
    ...(output === undefined ? [] : asOutput(toMessages(output, 'assistant'))),
  ]
}

function messagesOfMessageEvent(name: string, role: string, payload: JsonObject): Message[] {
  const inner = parseJson(payload['gen_ai.event.content'])
  const body = isRecord(inner) ? inner : payload
  const isChoice = name === 'gen_ai.choice'
  const content = isChoice
    ? (parseBlocks(body.message) ?? parseBlocks(body.content))
    : parseBlocks(body.content)
  const shaped = isRecord(content)
    ? { role, ...body, ...content, message: undefined }
    : { ...body, role: normaliseRole(body.role, role), content, message: undefined }
  const message = toMessage(shaped, role)
  if (message === undefined) return []
  delete message.name
  const messages = [message]
  const toolResults = parseJson(payload['tool.result'])
  if (Array.isArray(toolResults)) messages.push({ role: 'tool', parts: toolResults.map(toPart) })
  return isChoice ? asOutput(messages) : messages
}

/** Parses content that is a JSON list of blocks or one JSON message; other text stays text. */
function parseBlocks(content: unknown): unknown {
  if (typeof content !== 'string') return content
  const parsed = parseJsonText(content)
  if (Array.isArray(parsed) && parsed.some((block) => isRecord(block) && toPart(block).type !== 'other')) {
    return parsed
  }
  const isMessage = isRecord(parsed) && (parsed.role !== undefined || parsed.tool_calls !== undefined)
  return isMessage ? parsed : content
}
