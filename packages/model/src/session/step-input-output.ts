import { wordsOf, type Message, type Part } from './message.ts'
import { parseJson } from '../json/json-text.ts'
import { hasFailed } from './failure.ts'
import { argumentsOf } from './problem.ts'
import type { Step } from './step.ts'

/** The input of a step in comparable form; only its preview without payloads. */
export function stepInput(step: Step, hasPayloads: boolean): unknown {
  if (!hasPayloads) return step.inputPreview
  if (step.messages !== undefined) return inputMessagesOf(step).map(messageText)
  const given = argumentsOf(step)
  if (given !== undefined) return given
  return step.retrieval?.query ?? step.inputPreview
}

/** The result of a step in comparable form. An error is a result too. */
export function stepResult(step: Step, hasPayloads: boolean): unknown {
  if (hasFailed(step)) return { error: { type: step.error?.type, message: step.error?.message } }
  if (!hasPayloads) return step.outputPreview
  if (step.messages !== undefined) return modelReply(step)
  const result = step.tool?.result === undefined ? step.output : step.tool.result
  return parseResult(result === undefined ? (step.retrieval?.documents ?? step.outputPreview) : result)
}

/** Parses null, which OpenTelemetry can only write as text, and JSON that was recorded as text. */
export function parseResult(value: unknown): unknown {
  return value === 'null' || value === 'None' ? null : parseJson(value)
}

export function inputMessagesOf(step: Step): Message[] {
  return step.messages?.filter((message) => message.isOutput !== true) ?? []
}

export type ModelReply = { text: string; calls: { name: string; arguments: unknown }[] }

/** The text of a model's reply and the tools that it called. */
export function modelReply(step: Step): ModelReply {
  const answer: ModelReply = { text: '', calls: [] }
  for (const message of step.messages ?? []) {
    if (message.isOutput !== true) continue
    for (const part of message.parts) {
      answer.text += wordsOf(part)
      if (part.type === 'tool-call')
        answer.calls.push({ name: part.name, arguments: parseResult(part.arguments) })
    }
  }
  return answer
}

/** A message as one text, without call ids. */
export function messageText(message: Message): string {
  return `${message.role}: ${message.parts.map(partText).join('\n')}`
}

function partText(part: Part): string {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return part.text
    case 'tool-call':
      return `${part.name}(${JSON.stringify(part.arguments)})`
    case 'tool-result':
      return typeof part.result === 'string' ? part.result : JSON.stringify(part.result)
    case 'media':
      return part.uri ?? part.fileId ?? part.modality
    default:
      return ''
  }
}
