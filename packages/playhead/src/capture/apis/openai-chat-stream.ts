import { toNumber, toObject, toObjects, toText, type JsonObject } from '../json-value.ts'
import type { Assembler, StreamedPiece } from './model-api.ts'
import { textOfParts } from './openai-parts.ts'

type Choice = { index: number; message: JsonObject; calls: Map<number, JsonObject>; finish_reason?: string }

/** Chunks of chat completions into one. */
export class ChatAssembler implements Assembler {
  #fields: JsonObject = {}
  readonly #choices = new Map<number, Choice>()

  add(event: JsonObject): StreamedPiece {
    for (const field of ['id', 'model', 'usage', 'service_tier', 'system_fingerprint', 'error']) {
      if (event[field] !== undefined && event[field] !== null && event[field] !== '')
        this.#fields[field] = event[field]
    }
    const piece: StreamedPiece = { isToken: false, isLast: this.#fields.error !== undefined }
    for (const raw of toObjects(event.choices)) this.#addChoice(raw, piece)
    return piece
  }

  whole(): JsonObject {
    const choices = [...this.#choices.values()].map(({ calls, message, ...choice }) => ({
      ...choice,
      message: calls.size === 0 ? message : { ...message, tool_calls: [...calls.values()] },
    }))
    return { ...this.#fields, choices }
  }

  #addChoice(raw: JsonObject, piece: StreamedPiece): void {
    const index = toNumber(raw.index) ?? 0
    let choice = this.#choices.get(index)
    if (choice === undefined) {
      choice = { index, message: {}, calls: new Map() }
      this.#choices.set(index, choice)
    }
    const reason = toText(raw.finish_reason)
    if (reason !== undefined) choice.finish_reason = reason
    const delta = toObject(raw.delta)
    const text = this.#addText(choice, delta)
    for (const call of toObjects(delta.tool_calls)) addCall(choice, call)
    if (delta.function_call !== undefined) addCall(choice, { function: delta.function_call })
    const isCall = delta.tool_calls !== undefined || delta.function_call !== undefined
    if (index === 0 && text.visible !== '') piece.text = (piece.text ?? '') + text.visible
    if (text.visible !== '' || text.isHidden || isCall) piece.isToken = true
  }

  #addText({ message }: Choice, delta: JsonObject): { visible: string; isHidden: boolean } {
    const content = contentText(delta.content)
    const refusal = toText(delta.refusal) ?? ''
    const thought = toText(delta.reasoning_content) ?? toText(delta.reasoning) ?? content.thought
    append(message, 'content', content.text)
    append(message, 'refusal', refusal)
    append(message, 'reasoning_content', thought)
    const audio = toObject(delta.audio)
    const transcript = toText(audio.transcript) ?? ''
    if (delta.audio !== undefined) {
      const sound = toObject(message.audio)
      append(sound, 'transcript', transcript)
      append(sound, 'data', toText(audio.data) ?? '')
      message.audio = sound
    }
    if (message.role === undefined && delta.role !== undefined) message.role = delta.role
    return {
      visible: content.text + refusal + transcript,
      isHidden: thought !== '' || delta.audio !== undefined,
    }
  }
}

/** Mistral streams lists of parts, of which some are thoughts. */
function contentText(content: unknown): { text: string; thought: string } {
  if (!Array.isArray(content)) return { text: toText(content) ?? '', thought: '' }
  let text = ''
  let thought = ''
  for (const part of toObjects(content)) {
    if (part.type === 'thinking') thought += textOfParts(part.thinking)
    else text += toText(part.text) ?? ''
  }
  return { text, thought }
}

function append(target: JsonObject, field: string, text: string): void {
  if (text !== '') target[field] = (toText(target[field]) ?? '') + text
}

/** Hosts that leave the index out send whole calls, one after the other. */
function addCall({ calls }: Choice, raw: JsonObject): void {
  const given = toNumber(raw.index)
  const isNew = given === undefined && raw.id !== undefined
  const index = given ?? (isNew ? calls.size : Math.max(0, calls.size - 1))
  const call = calls.get(index) ?? { function: { name: '', arguments: '' } }
  const target = toObject(call.function)
  const delta = toObject(raw.function)
  if (raw.id !== undefined) call.id = raw.id
  append(target, 'name', toText(delta.name) ?? '')
  const piece = delta.arguments
  if (typeof piece === 'string') append(target, 'arguments', piece)
  else if (piece !== undefined && piece !== null) target.arguments = piece
  calls.set(index, call)
}
