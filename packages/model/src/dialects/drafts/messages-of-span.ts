import { wordsOf, type Message } from '../../session/message.ts'
import type { StepKind } from '../../session/step.ts'
import type { SpanReading } from '../reading/dialect.ts'
import { ask } from '../reading/dialect-set.ts'
import { joinPieces } from '../../providers/stream-pieces.ts'
import { isCutJson } from '../../json/json-text.ts'
import { inputOf, noteCut, outputOf, readJson } from '../reading/payload.ts'
import { messagesOfRequest, messagesOfResponse } from '../../providers/payload.ts'
import { asOutput, separateToolResults, textMessage } from '../../providers/messages.ts'

/** The conversation of a step: system prompt, input, reply. `hasInput` and `hasOutput` tell which sides it has. */
export type MessagesOfSpan = { messages?: Message[]; hasInput: boolean; hasOutput: boolean }

export function messagesOfSpan(reading: SpanReading, kind: StepKind): MessagesOfSpan {
  let input: Message[] | undefined
  let output: Message[] | undefined
  for (const { dialect, bit } of reading.dialects.messageOrder) {
    if ((reading.signs & bit) === 0) continue
    input ??= ask(dialect, 'inputMessages', reading, kind)
    output ??= ask(dialect, 'outputMessages', reading, kind)
    if (input !== undefined && output !== undefined) break
  }
  if (kind === 'llm') {
    input ??= messagesInside(inputOf(reading), messagesOfRequest)
    output ??= messagesInside(outputOf(reading), messagesOfResponse)
  }
  const system = systemOf(reading)
  if (system === undefined && input === undefined && output === undefined) {
    return { hasInput: false, hasOutput: false }
  }
  const messages = withSystem(system, separateToolResults(input ?? []))
  if (output !== undefined) for (const message of asOutput(joinPieces(output))) messages.push(message)
  return { messages, hasInput: input !== undefined, hasOutput: output !== undefined }
}

function messagesInside(
  payload: unknown,
  messagesOf: (payload: unknown) => Message[] | undefined,
): Message[] | undefined {
  if (payload === undefined || (typeof payload === 'string' && isCutJson(payload))) return undefined
  return messagesOf(payload)
}

/** A list of parts, or plain text (Mastra). */
function systemOf(reading: SpanReading): Message | undefined {
  const given = reading.fields.systemInstructions
  if (given === undefined) return undefined
  if (!reading.isOutlineOnly) return textMessage('system', readJson(reading, given))
  noteCut(reading, given)
  return undefined
}

/** OpenLIT reports the system message twice: in the input and on its own. */
function withSystem(system: Message | undefined, input: Message[]): Message[] {
  if (system === undefined) return input
  const first = input[0]
  if (first?.role !== 'system' || textOf(first) !== textOf(system)) return [system, ...input]
  return [system, ...input.slice(1)]
}

function textOf(message: Message): string {
  return message.parts.map(wordsOf).join('')
}
