import { wordsOf, type Message, type Part } from '../../session/message.ts'
import { isMeaningful, isRecord, toText, type JsonObject } from '../../json/attribute-value.ts'
import { compactJson } from '../../json/compact-json.ts'
import { toMessages } from '../../providers/messages.ts'

const MAX_LENGTH = 200
/** Text beyond this is ignored, however much white space comes before it. */
const MAX_LOOK = 4000
/** Most text reaches its 200 characters well before this. */
const FIRST_LOOK = 260
const MAX_DEPTH = 6
const whitespace = /\s+/g
const foldable = /[\n\t\r]| {2}/
const SPACE = 32
const NO_BREAK_SPACE = 160
const FIRST_RARE_SPACE = 0x1680
const rareSpaces = new Set([
  0x1680, 0x2000, 0x2001, 0x2002, 0x2003, 0x2004, 0x2005, 0x2006, 0x2007, 0x2008, 0x2009, 0x200a, 0x2028,
  0x2029, 0x202f, 0x205f, 0x3000, 0xfeff,
])

/** One line of at most 200 characters; undefined when it would be empty. */
export function oneLine(text: string): string | undefined {
  if (isOneLine(text)) return text.length > MAX_LENGTH ? cut(text) : text
  let folded = fold(text, FIRST_LOOK)
  if (folded.length <= MAX_LENGTH && text.length > FIRST_LOOK) folded = fold(text, MAX_LOOK)
  if (folded.length > MAX_LENGTH) return cut(folded)
  return folded === '' ? undefined : folded
}

/**
 * Whether there is certainly nothing to fold or trim as far as a preview shows it. Most text is like that, and a loop finds out
 * quickly.
 */
function isOneLine(text: string): boolean {
  const isLong = text.length > MAX_LENGTH
  const end = isLong ? MAX_LENGTH : text.length
  if (!isInk(text.charCodeAt(0)) || !isInk(text.charCodeAt(end - 1))) return false
  if (isLong && !isInk(text.charCodeAt(end)) && !isInk(text.charCodeAt(end + 1))) return false
  let previous = 0
  for (let index = 0; index < end; index++) {
    const code = text.charCodeAt(index)
    if (!isInk(code) && (code !== SPACE || previous === SPACE)) return false
    previous = code
  }
  return true
}

/** False for white space, for control characters, and where the text has ended. */
function isInk(code: number): boolean {
  return code > SPACE && code !== NO_BREAK_SPACE && (code < FIRST_RARE_SPACE || !rareSpaces.has(code))
}

function fold(text: string, look: number): string {
  const start = text.length > look ? text.slice(0, look) : text
  return (foldable.test(start) ? start.replace(whitespace, ' ') : start).trim()
}

function cut(text: string): string {
  return `${cutWhole(text, MAX_LENGTH - 1)}…`
}

/** Cuts without splitting a surrogate pair. */
function cutWhole(text: string, length: number): string {
  const last = text.charCodeAt(length - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length)
}

/** The last value that was written as JSON. A tool's result is both the input of the next call and an answer in it. */
let last: { value: unknown; json: string } = { value: null, json: 'null' }

/** The value as JSON, cut to the length of a preview. */
export function previewJson(value: unknown): string {
  if (value === last.value) return last.json
  const json = compactJson(value, MAX_LENGTH, MAX_DEPTH)
  if (typeof value === 'object') last = { value, json }
  return json
}

/** The last message of a user or a tool. */
export function previewOfInput(messages: readonly Message[]): string | undefined {
  for (let index = messages.length - 1; index >= 0; index--) {
    const message = messages[index]!
    if (message.isOutput === true || message.role === 'system' || message.role === 'assistant') continue
    const preview = previewOfParts(message.parts)
    if (preview !== undefined) return preview
  }
  return undefined
}

/** The reply: its text or its tool calls. */
export function previewOfOutput(messages: readonly Message[]): string | undefined {
  const calls: Part[] = []
  for (let index = messages.length - 1; index >= 0; index--) {
    const message = messages[index]!
    if (message.isOutput !== true) break
    const text = textOfParts(message.parts)
    if (text !== undefined && message.role !== 'tool') return oneLine(text)
    calls.unshift(...message.parts)
  }
  return previewOfParts(calls)
}

function previewOfParts(parts: readonly Part[]): string | undefined {
  const text = textOfParts(parts)
  if (text !== undefined) return oneLine(text)
  const calls = parts.filter((part) => part.type === 'tool-call')
  if (calls.length > 0) return oneLine(`→ ${calls.map(describeCall).join(', ')}`)
  for (const part of parts) {
    if (part.type === 'tool-result') return previewOfValue(part.result)
    if (part.type === 'media') return `[${part.modality}]`
    if (part.type === 'reasoning' && part.text !== undefined) return oneLine(part.text)
  }
  return undefined
}

function textOfParts(parts: readonly Part[]): string | undefined {
  let text = ''
  for (const part of parts) {
    const words = wordsOf(part)
    if (words === '') continue
    text = text === '' ? words : `${text} ${words}`
    if (text.length > MAX_LOOK) break
  }
  return text === '' ? undefined : text
}

function describeCall(call: Extract<Part, { type: 'tool-call' }>): string {
  return `${call.name}(${previewOfArguments(call.arguments) ?? ''})`
}

/** `key=value, key=value`, or JSON for a single unnamed argument. */
export function previewOfArguments(value: unknown): string | undefined {
  if (value === undefined) return undefined
  if (!isRecord(value)) return oneLine(previewJson(value))
  let text = ''
  for (const key of Object.keys(value)) {
    const written = `${key}=${argument(value[key])}`
    text = text === '' ? written : `${text}, ${written}`
    if (text.length > MAX_LENGTH) break
  }
  return oneLine(text)
}

function argument(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, MAX_LENGTH + 1) : previewJson(value)
}

const textKeys = [
  'text',
  'content',
  'output_text',
  'output',
  'answer',
  'response',
  'result',
  'message',
  'input',
]

/** Names under which agents get what the user said. */
const questionKeys = ['question', 'task', 'query', 'user_input', 'prompt', 'topic', 'goal']

/** As `previewOfValue`, for what an agent was given. */
export function previewOfQuestion(value: unknown): string | undefined {
  if (isRecord(value) && !Array.isArray(value.messages))
    for (const key of questionKeys) {
      const text = typeof value[key] === 'string' ? oneLine(value[key]) : undefined
      if (text !== undefined) return text
    }
  const given = isRecord(value) ? Object.values(value) : []
  const sentences = isRecord(value) ? sentencesIn(value) : []
  if (sentences.length === 1) return oneLine(sentences[0]!)
  return previewOfValue(given.find(isUserMessage) ?? firstTask(value) ?? value)
}

/** What else an agent is given besides the question. */
const instructionKeys = /system|instruction|backstory|model/i

/** The texts of more than a word among the settings of a run. */
function sentencesIn(value: JsonObject): string[] {
  if (Array.isArray(value.messages)) return []
  return Object.entries(value).flatMap(([key, text]) =>
    typeof text === 'string' && text.trim().includes(' ') && !instructionKeys.test(key) ? [text] : [],
  )
}

/** CrewAI's crews are given tasks. */
function firstTask(value: unknown): unknown {
  const first: unknown = Array.isArray(value) ? value[0] : undefined
  return isRecord(first) && first.expected_output !== undefined ? first.description : undefined
}

/** What a runner was given among its settings, as ADK's `new_message`. */
function isUserMessage(value: unknown): boolean {
  return isRecord(value) && value.role === 'user' && (value.parts ?? value.content) !== undefined
}

/** What the user said last, if tools have answered since. */
export function previewOfUser(messages: readonly Message[]): string | undefined {
  let hasToolResult = false
  for (let index = messages.length - 1; index >= 0; index--) {
    const { role, parts, isOutput } = messages[index]!
    if (isOutput === true) continue
    const text = role === 'user' ? textOfParts(parts) : undefined
    if (text !== undefined) return hasToolResult ? oneLine(text) : undefined
    if (parts.some((part) => part.type === 'tool-result') || role.startsWith('tool')) hasToolResult = true
  }
  return undefined
}

/** The preview of any value: its text, the last message of a conversation, or JSON. */
export function previewOfValue(value: unknown): string | undefined {
  if (!isMeaningful(value)) return undefined
  if (typeof value === 'string') return oneLine(value)
  if (isRecord(value)) {
    if (Array.isArray(value.messages)) return previewOfLast(value.messages) ?? oneLine(previewJson(value))
    if (value.lc !== undefined || value.role !== undefined || hasCalls(value)) {
      const preview = previewOfLast([{ role: 'assistant', ...value }])
      if (preview !== undefined) return preview
    }
    for (const key of textKeys) {
      const text = typeof value[key] === 'string' ? toText(value[key]) : undefined
      if (text !== undefined) return oneLine(text)
    }
  } else if (Array.isArray(value) && isConversation(value)) {
    return previewOfLast(value) ?? oneLine(previewJson(value))
  }
  return oneLine(previewJson(value))
}

function hasCalls(value: JsonObject): boolean {
  const calls = value.toolCalls ?? value.tool_calls
  return Array.isArray(calls) && calls.length > 0
}

function isConversation(list: unknown[]): boolean {
  const last = list.at(-1)
  return isRecord(last) && (last.role !== undefined || last.lc !== undefined)
}

function previewOfLast(list: unknown[]): string | undefined {
  const last = toMessages(list.slice(-1), 'user').at(-1)
  return last === undefined ? undefined : previewOfParts(last.parts)
}
