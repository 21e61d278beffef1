import type { Dialect, SpanReading } from './reading/dialect.ts'
import { messagesOfEvent } from './reading/event-messages.ts'
import type { Message } from '../session/message.ts'

/** Messages as span events, as in the semantic conventions up to 2025. */
export const spanEvents: Dialect = {
  name: 'span-events',
  inputMessages: (reading) => select(reading, false),
  outputMessages: (reading) => select(reading, true),
}

function select({ span }: SpanReading, isOutput: boolean): Message[] | undefined {
  const found: Message[] = []
  for (const event of span.events) {
    if (!event.name.startsWith('gen_ai.')) continue
    for (const message of messagesOfEvent(event.name, event.attributes) ?? []) {
      if ((message.isOutput === true) === isOutput) found.push(message)
    }
  }
  return found.length === 0 ? undefined : found
}
