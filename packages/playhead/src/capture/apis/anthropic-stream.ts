import { isObject, parseArguments, toNumber, toObject, toText, type JsonObject } from '../json-value.ts'
import type { Assembler, StreamedPiece } from './model-api.ts'

/** Events of an Anthropic message into the message. */
export class MessageAssembler implements Assembler {
  #message: JsonObject = {}
  readonly #blocks: JsonObject[] = []

  add(event: JsonObject): StreamedPiece {
    switch (event.type) {
      case 'message_start':
        this.#message = { ...toObject(event.message) }
        break
      case 'content_block_start':
        this.#blocks[indexOf(event)] = { ...toObject(event.content_block), partialInput: '' }
        break
      case 'content_block_delta':
        return this.#addDelta(indexOf(event), toObject(event.delta))
      case 'message_delta':
        this.#finish(toObject(event.delta), event.usage)
        break
      case 'error':
        this.#message.error = event.error
        return { isToken: false, isLast: true }
      case 'message_stop':
        return { isToken: false, isLast: true }
    }
    return { isToken: false, isLast: false }
  }

  whole(): JsonObject {
    return { ...this.#message, content: this.#blocks.filter(isObject).map(finishBlock) }
  }

  #addDelta(index: number, delta: JsonObject): StreamedPiece {
    const block = (this.#blocks[index] ??= { type: 'text', text: '', partialInput: '' })
    const text = toText(delta.text)
    if (text !== undefined) {
      block.text = (toText(block.text) ?? '') + text
      return { text, isToken: true, isLast: false }
    }
    const thinking = toText(delta.thinking)
    if (thinking !== undefined) block.thinking = (toText(block.thinking) ?? '') + thinking
    const json = toText(delta.partial_json)
    if (json !== undefined) block.partialInput = (toText(block.partialInput) ?? '') + json
    return { isToken: thinking !== undefined || json !== undefined, isLast: false }
  }

  /** Its usage goes on where that of the start left off; counts that it repeats are the later ones. */
  #finish(delta: JsonObject, usage: unknown): void {
    const { stop_reason: reason, stop_sequence: sequence } = delta
    if (reason !== undefined) this.#message.stop_reason = reason
    if (sequence !== undefined) this.#message.stop_sequence = sequence
    if (!isObject(usage)) return
    const merged = { ...toObject(this.#message.usage) }
    for (const field of Object.keys(usage)) if (usage[field] !== null) merged[field] = usage[field]
    this.#message.usage = merged
  }
}

function indexOf(event: JsonObject): number {
  return toNumber(event.index) ?? 0
}

function finishBlock({ partialInput, ...block }: JsonObject): JsonObject {
  return toText(partialInput) === undefined ? block : { ...block, input: parseArguments(partialInput) }
}
