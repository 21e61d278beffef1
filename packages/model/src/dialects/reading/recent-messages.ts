import { isMeaningful } from '../../json/attribute-value.ts'
import { separateToolResults, toMessages } from '../../providers/messages.ts'
import { wordsOf, type Message, type Part } from '../../session/message.ts'

/** A shorter text is parsed as quickly as it is searched. */
const MIN_LENGTH = 256
const BRACKET_END = 93
const BACKSLASH = 92

/** How the first message of a list begins, and every other one, as JavaScript and as Python write them. */
const beginnings = [
  ['[{"role":"', ',{"role":"'],
  ['[{"role": "', ', {"role": "'],
] as const

/** What was found so far, from the end of the conversation. */
type Search = { hasShown: boolean; hasUser: boolean; hasReply: boolean }

/**
 * The end of a conversation, as far back as an outline needs it: to what the user said last, and to the model's previous
 * reply. Other messages are there without their parts, and so is a reply in words. Each call of an agent repeats the whole
 * conversation, and parsing all of it for its last messages would be most of the work. Undefined if the text has to be parsed whole.
 *
 * Where a message begins is found by its text. That text can't be within a string, where quotes are escaped; a message
 * inside another one does not parse, because the brackets around it are not closed.
 */
export function recentMessages(text: string): Message[] | undefined {
  if (text.length < MIN_LENGTH || text.charCodeAt(text.length - 1) !== BRACKET_END) return undefined
  const beginning = beginnings.find(([first]) => text.startsWith(first))?.[1]
  if (beginning === undefined) return undefined
  const search: Search = { hasShown: false, hasUser: false, hasReply: false }
  const newestFirst: Message[] = []
  let end = text.length - 1
  for (const start of startsOfMessages(text, beginning).toReversed()) {
    const messages = readNext(text.slice(text.indexOf('{', start), end), search)
    if (messages === undefined) return undefined
    newestFirst.push(...messages)
    if (search.hasShown && search.hasUser && search.hasReply) break
    end = start
  }
  return newestFirst.toReversed()
}

/** Where the messages of a list may begin. Searched forwards, which skips most characters; backwards, V8 compares each. */
function startsOfMessages(text: string, beginning: string): number[] {
  const starts = [0]
  for (let at = text.indexOf(beginning); at !== -1; at = text.indexOf(beginning, at + beginning.length))
    starts.push(at)
  return starts
}

/** One message as JSON: newest first, because a message may be split. Undefined if it can't be parsed. */
function readNext(text: string, search: Search): Message[] | undefined {
  const role = roleOf(text)
  if (role !== undefined && search.hasReply && (role === 'assistant' || search.hasShown))
    return [{ role, parts: [] }]
  if (role === 'assistant' && isReplyInWords(text)) {
    search.hasReply = true
    return [{ role, parts: [] }]
  }
  const value = parse(text)
  if (value === undefined) return undefined
  const messages = separateToolResults(toMessages([value], 'user')).toReversed()
  for (const message of messages) note(message, search)
  return messages
}

/** How a reply in words begins, up to its first word. */
const replyStart =
  /^\{"role": ?"assistant", ?"(?:content": ?"|(?:content|parts)": ?\[\{"type": ?"text", ?"(?:content|text)": ?")(?!")/

/** Whether the model said something, and nothing else. An outline shows no more of its earlier replies. */
function isReplyInWords(text: string): boolean {
  const start = replyStart.exec(text)?.[0]
  if (start === undefined) return false
  let end = text.indexOf('"', start.length)
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end !== -1 && text.slice(end + 1) === (start.includes('[') ? '}]}' : '}')
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0
  while (text.charCodeAt(at - backslashes - 1) === BACKSLASH) backslashes += 1
  return backslashes % 2 === 1
}

function roleOf(text: string): 'system' | 'assistant' | 'tool' | undefined {
  const start = text.charCodeAt(8) === 34 ? 9 : 10
  for (const role of ['tool', 'assistant', 'system'] as const)
    if (text.startsWith(role, start) && text.charCodeAt(start + role.length) === 34) return role
  return undefined
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function note({ role, parts }: Message, search: Search): void {
  if (role === 'assistant') {
    // As in `toolAnswersIn`: a message that is only a call may be one of several.
    if (parts.length !== 1 || parts[0]!.type !== 'tool-call') search.hasReply = true
    return
  }
  const words = parts.map(wordsOf).join('')
  if (role === 'user' && words !== '') search.hasUser = true
  if (role !== 'system' && (words === '' ? parts.some(isShown) : words.trim() !== '')) search.hasShown = true
}

/** Whether a preview shows this part, which has no words. */
function isShown(part: Part): boolean {
  if (part.type !== 'tool-result') return part.type === 'media'
  return typeof part.result === 'string' ? part.result.trim() !== '' : isMeaningful(part.result)
}
