import { parseJson, type Message, type Part } from '@playhead/model'

export type SentMessage = { message: Message; isNew: boolean }

export type Conversation = {
  /** What the model was sent. `isNew`: the previous call of the same agent did not have it. */
  sent: SentMessage[]
  answered: Message[]
  /** How many messages of the previous call were not sent again. */
  droppedCount: number
}

/**
 * A conversation as the model saw it at one call. `previous`: all messages of the previous call, its answer included.
 * Without a previous call nothing is marked as new.
 */
export function compareConversation(
  messages: readonly Message[],
  previous: readonly Message[] | undefined,
): Conversation {
  const left = new Map<string, number>()
  for (const message of previous ?? []) {
    const key = contentKey(message)
    left.set(key, (left.get(key) ?? 0) + 1)
  }
  const sent: SentMessage[] = []
  const answered: Message[] = []
  for (const message of messages) {
    if (message.isOutput === true) {
      answered.push(message)
      continue
    }
    const key = contentKey(message)
    const count = left.get(key) ?? 0
    if (count > 0) left.set(key, count - 1)
    sent.push({ message, isNew: previous !== undefined && count === 0 })
  }
  const dropped = (previous ?? []).filter(
    (message) => message.isOutput !== true && takeOne(left, contentKey(message)),
  )
  return { sent, answered, droppedCount: dropped.length }
}

function takeOne(counts: Map<string, number>, key: string): boolean {
  const count = counts.get(key) ?? 0
  if (count === 0) return false
  counts.set(key, count - 1)
  return true
}

/** Messages are equal by role and content: an answer is sent back without its reasoning and finish reason. */
function contentKey(message: Message): string {
  return `${message.role}\n${message.parts
    .map(partKey)
    .filter((key) => key !== '')
    .join('\n')}`
}

function partKey(part: Part): string {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return `text ${part.text.trim()}`
    case 'reasoning':
      return ''
    case 'tool-call':
      return `call ${part.name} ${valueKey(part.arguments)}`
    case 'tool-result':
      return `result ${part.id ?? part.name ?? ''} ${valueKey(part.result)}`
    case 'media':
      return `media ${part.uri ?? part.fileId ?? part.base64?.slice(0, 200) ?? part.modality}`
    case 'other':
      return `other ${valueKey(part.raw)}`
    default:
      return ''
  }
}

/** The same arguments may be JSON text in one call and an object in the next. */
function valueKey(value: unknown): string {
  const parsed = parseJson(value)
  return typeof parsed === 'string' ? parsed.trim() : (JSON.stringify(parsed) ?? '')
}
