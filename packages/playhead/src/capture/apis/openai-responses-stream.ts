import { isObject, toNumber, toObject, toText, type JsonObject } from '../json-value.ts'
import type { Assembler, StreamedPiece } from './model-api.ts'

const ends = new Set(['response.completed', 'response.incomplete', 'response.failed', 'error'])

/** The field of an item's part that a kind of delta goes on with, and whether a reader sees it. */
const deltas = new Map([
  ['response.output_text.delta', { list: 'content', type: 'output_text', field: 'text', isVisible: true }],
  ['response.refusal.delta', { list: 'content', type: 'refusal', field: 'refusal', isVisible: true }],
  [
    'response.reasoning_summary_text.delta',
    { list: 'summary', type: 'summary_text', field: 'text', isVisible: false },
  ],
  [
    'response.reasoning_text.delta',
    { list: 'content', type: 'reasoning_text', field: 'text', isVisible: false },
  ],
])

const argumentDeltas = new Map([
  ['response.function_call_arguments.delta', 'arguments'],
  ['response.mcp_call_arguments.delta', 'arguments'],
  ['response.custom_tool_call_input.delta', 'input'],
])

/** Events of a response. The last one holds it whole; the others matter when that never comes. */
export class ResponseAssembler implements Assembler {
  #response: JsonObject = {}
  readonly #items: JsonObject[] = []

  add(event: JsonObject): StreamedPiece {
    const type = toText(event.type) ?? ''
    if (isObject(event.response)) this.#response = event.response
    if (type === 'error') {
      const error = isObject(event.error) ? event.error : { code: event.code, message: event.message }
      this.#response = { ...this.#response, error }
    }
    if (ends.has(type)) return { isToken: false, isLast: true }
    const index = toNumber(event.output_index) ?? 0
    if (isObject(event.item)) this.#items[index] = structuredClone(event.item)
    return { isLast: false, ...this.#addDelta(type, index, event) }
  }

  whole(): JsonObject {
    const { output } = this.#response
    const isWhole = Array.isArray(output) && output.length > 0
    return isWhole ? this.#response : { ...this.#response, output: this.#items.filter(isObject) }
  }

  #addDelta(type: string, index: number, event: JsonObject): Omit<StreamedPiece, 'isLast'> {
    const text = toText(event.delta)
    const argumentField = argumentDeltas.get(type)
    const delta = deltas.get(type)
    if (text === undefined || (argumentField === undefined && delta === undefined)) return { isToken: false }
    const item = (this.#items[index] ??= { type: 'message', content: [] })
    if (delta === undefined) {
      append(item, argumentField!, text)
      return { isToken: true }
    }
    const list = (item[delta.list] ??= []) as unknown[]
    const place = toNumber(event.content_index) ?? toNumber(event.summary_index) ?? 0
    append(toObject((list[place] ??= { type: delta.type })), delta.field, text)
    return delta.isVisible ? { isToken: true, text } : { isToken: true }
  }
}

function append(target: JsonObject, field: string, text: string): void {
  target[field] = (toText(target[field]) ?? '') + text
}
