import { hasFailed } from '../session/failure.ts'
import { inputMessagesOf, modelReply, parseResult, stepResult } from '../session/step-input-output.ts'
import { shapeOfValue } from '../align/fingerprint-session.ts'
import type { Message } from '../session/message.ts'
import { endOffsetMs, type Step } from '../session/step.ts'

/** A moment at which a value was available. */
export type Appearance = {
  by: 'user' | 'instructions' | 'step' | 'model'
  atMs: number
  position: number
  path: string
}

/** A step's result that was empty as a whole, or under a name. */
export type EmptyResult = {
  atMs: number
  position: number
  path: string
  /** The key that was empty; undefined when the whole result was. */
  name: string | undefined
  value: unknown
}

const MAX_TEXT_LENGTH = 20_000
const MAX_ENTRIES = 4000
const MAX_DEPTH = 8
/** Larger objects are only compared part by part. */
const MAX_PARTS = 300

/** Every distinctive value of a session, with the moments at which it was available. */
export class ValueIndex {
  readonly emptyResults: EmptyResult[] = []
  readonly #places = new Map<string, Appearance[]>()
  /** When a model was first sent the user's message. */
  firstAskedMs = Infinity
  #firstMs = Infinity
  readonly #textsSeen = new Map<string, Appearance>()
  readonly #texts: { text: string; appearance: Appearance }[] = []

  constructor(steps: readonly Step[]) {
    for (const [position, step] of steps.entries()) this.#addStep(step, position)
    const inOrder = (one: { atMs: number }, other: { atMs: number }) => one.atMs - other.atMs
    for (const appearances of this.#places.values()) {
      appearances.sort(inOrder)
      this.#firstMs = Math.min(this.#firstMs, appearances[0]!.atMs)
    }
    this.#texts.sort((one, other) => inOrder(one.appearance, other.appearance))
    this.#firstMs = Math.min(this.#firstMs, this.#texts[0]?.appearance.atMs ?? Infinity)
    this.emptyResults.sort(inOrder)
  }

  /** All moments at which a value was available, earliest first. */
  find(value: unknown): Appearance[] {
    const exact = this.#places.get(keyOf(value)) ?? []
    if (typeof value !== 'string' && typeof value !== 'number') return exact
    // A plain word occurs in many texts, so only whole values count as its source.
    if (exact.length > 0 && /^[a-z]+$/.test(String(value))) return exact
    const text = String(value).toLowerCase()
    const isWord = /^[\p{L}\p{N}_-]+$/u.test(text)
    const said = this.#texts.filter(({ text: where }) =>
      isWord ? hasWord(where, text) : where.includes(text),
    )
    return [...exact, ...said.map(({ appearance }) => appearance)].toSorted(
      (one, other) => one.atMs - other.atMs,
    )
  }

  /** True when no value and no text existed yet. */
  isEmptyBefore(atMs: number): boolean {
    return this.#firstMs > atMs
  }

  #addStep(step: Step, position: number): void {
    const endMs = endOffsetMs(step)
    for (const message of inputMessagesOf(step)) this.#addMessage(message, step.offsetMs, position)
    if (hasFailed(step)) return
    if (step.messages !== undefined) {
      const { text, calls } = modelReply(step)
      const said: Appearance = { by: 'model', atMs: endMs, position, path: 'output' }
      this.#addText(text, said)
      this.#addValue(parseResult(text), said, 0)
      for (const call of calls) this.#addValue(call.arguments, { ...said, path: call.name }, 0)
      return
    }
    const result = stepResult(step, true)
    if (result === undefined) return
    if (isEmptyValue(result))
      this.emptyResults.push({ atMs: endMs, position, path: 'output', name: undefined, value: result })
    const by = step.kind === 'llm' ? 'model' : 'step'
    this.#addValue(result, { by, atMs: endMs, position, path: 'output' }, 0)
  }

  #addMessage({ role, parts }: Message, atMs: number, position: number): void {
    const by =
      role === 'user' ? 'user' : role === 'system' || role === 'developer' ? 'instructions' : undefined
    for (const part of parts) {
      if (part.type === 'text' && by !== undefined) this.#addText(part.text, { by, atMs, position, path: '' })
      if (part.type === 'tool-result') {
        const path = part.name === undefined ? 'tool result' : `tool result of ${part.name}`
        this.#addValue(parseResult(part.result), { by: 'step', atMs, position, path }, 0)
      }
    }
  }

  #addText(text: string, appearance: Appearance): void {
    if (text === '') return
    if (appearance.by === 'user') this.firstAskedMs = Math.min(this.firstAskedMs, appearance.atMs)
    const looked = text.slice(0, MAX_TEXT_LENGTH).toLowerCase()
    // Every call sends the whole conversation again; texts count only once.
    const known = this.#textsSeen.get(looked)
    if (known !== undefined && known.by === appearance.by && known.atMs <= appearance.atMs) return
    this.#textsSeen.set(looked, appearance)
    this.#texts.push({ text: looked, appearance })
  }

  #addValue(value: unknown, appearance: Appearance, depth: number): void {
    if (typeof value === 'string' && /\s/.test(value)) this.#addText(value, appearance)
    if (isDistinctive(value) || isFilledObject(value)) {
      const appearances = this.#places.get(keyOf(value))
      if (appearances === undefined) this.#places.set(keyOf(value), [appearance])
      else appearances.push(appearance)
    }
    if (typeof value !== 'object' || value === null || depth >= MAX_DEPTH) return
    for (const [key, item] of Object.entries(value).slice(0, MAX_ENTRIES)) {
      const path = Array.isArray(value) ? `${appearance.path}[${key}]` : `${appearance.path}.${key}`
      if (isEmptyValue(item) && appearance.by === 'step')
        this.emptyResults.push({
          atMs: appearance.atMs,
          position: appearance.position,
          path,
          name: key,
          value: item,
        })
      this.#addValue(item, { ...appearance, path }, depth + 1)
    }
  }
}

/** True for an object or list that is not empty and small enough to be compared as a whole. */
function isFilledObject(value: unknown): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    countParts(value, 0) > 0 &&
    countParts(value, 0) <= MAX_PARTS
  )
}

function countParts(value: object, depth: number): number {
  let count = 0
  for (const item of Object.values(value)) {
    count += 1
    if (count > MAX_PARTS || depth > MAX_DEPTH) return MAX_PARTS + 1
    if (typeof item === 'object' && item !== null) count += countParts(item, depth + 1)
  }
  return count
}

/** "129.50", 129.5 and "129.5" have the same key, and so have objects with another order of keys. */
function keyOf(value: unknown): string {
  if (typeof value === 'object' && value !== null) return shapeOfValue(value)
  const text = String(value).trim().toLowerCase()
  return /^-?\d+(?:\.\d+)?$/.test(text) ? String(Number(text)) : text
}

function hasWord(text: string, word: string): boolean {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    const [before, after] = [text[at - 1] ?? ' ', text[at + word.length] ?? ' ']
    if (!/[\p{L}\p{N}_]/u.test(before) && !/[\p{L}\p{N}_]/u.test(after)) return true
  }
  return false
}

const MIN_LENGTH = 3

/** Words that occur too often to identify a source. */
const common: ReadonlySet<string> = new Set(
  `true false null none undefined unknown default yes not the and for with from this that all any new old get set put post
  add run use name type text json xml html http https string number boolean object array list item items data value values
  input output result results error errors status success failed failure fail pending active inactive open closed done
  low high medium normal small large first last next asc desc auto user users system assistant model tool test main other
  title description content message messages query question answer reply key keys file files page size limit offset count
  total amount date time day days today now usd eur en-us eng english one two three`.split(/\s+/),
)

/** True for a value that identifies its source: not short, not a common word, not a boolean. */
export function isDistinctive(value: unknown): value is string | number {
  if (typeof value !== 'string' && typeof value !== 'number') return false
  const text = String(value).trim()
  return text.length >= MIN_LENGTH && !common.has(text.toLowerCase())
}

const MIN_DIGITS = 4
const MIN_DIGITS_OF_FRACTION = 3

/** True for a number that occurs everywhere: a round or short one, a year, a power of two. */
export function isCommonNumber(value: string | number): boolean {
  const text = String(value).trim()
  if (!/^-?\d+(?:\.\d+)?$/.test(text)) return false
  const number = Math.abs(Number(text))
  if (Number.isInteger(number) && (isYear(number) || Number.isInteger(Math.log2(number)))) return true
  const digits = String(number)
    .replaceAll(/\D/g, '')
    .replaceAll(/^0+|0+$/g, '')
  return digits.length < (Number.isInteger(number) ? MIN_DIGITS : MIN_DIGITS_OF_FRACTION)
}

function isYear(number: number): boolean {
  return number >= 1900 && number < 2100
}

/** True for null, an empty text, list or object, and a word for null. */
export function isEmptyValue(value: unknown): boolean {
  if (value === null || value === undefined) return true
  if (typeof value === 'string') return /^\s*(?:null|none|undefined)?\s*$/i.test(value)
  return typeof value === 'object' && Object.keys(value).length === 0
}
