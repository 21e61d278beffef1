import { answerOf, cameOf, isFailed, readResult, sentMessages } from '../session/step-sides.ts'
import { shapeOfValue } from '../align/print-session.ts'
import type { Message } from '../session/message.ts'
import type { Step } from '../session/step.ts'
import { isNothing, isTelling } from './common-values.ts'

/** A moment at which a value was there to be used. */
export type Appearance = {
  by: 'user' | 'instructions' | 'step' | 'model'
  atMs: number
  position: number
  path: string
}

/** A result that was nothing, or had nothing under a name. */
export type Gap = { atMs: number; position: number; path: string; name: string | undefined; isWhole: boolean }

const TEXT_LOOKED_AT = 20_000
const PLACES_LOOKED_AT = 4000
const DEEPEST = 8
/** Larger objects are looked at part by part only. */
const MOST_PARTS = 300

/** What was to be seen when: every telling value of a session, with the moments at which it was there. */
export class ValueIndex {
  readonly gaps: Gap[] = []
  readonly #places = new Map<string, Appearance[]>()
  /** When a model was first told what the user said. */
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
    this.gaps.sort(inOrder)
  }

  /** When a value was there, the earliest first. */
  find(value: unknown): Appearance[] {
    const exact = this.#places.get(keyOf(value)) ?? []
    if (typeof value !== 'string' && typeof value !== 'number') return exact
    // A plain word stands in many texts: where it is the whole value, that is its source.
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

  /** True when no value and no text was there yet. */
  isEmptyBefore(atMs: number): boolean {
    return this.#firstMs > atMs
  }

  #addStep(step: Step, position: number): void {
    const endMs = step.offsetMs + (step.durationMs ?? 0)
    for (const message of sentMessages(step)) this.#addMessage(message, step.offsetMs, position)
    if (isFailed(step)) return
    if (step.messages !== undefined) {
      const { text, calls } = answerOf(step)
      const said: Appearance = { by: 'model', atMs: endMs, position, path: 'output' }
      this.#addText(text, said)
      this.#addValue(readResult(text), said, 0)
      for (const call of calls) this.#addValue(call.arguments, { ...said, path: call.name }, 0)
      return
    }
    const result = cameOf(step, true)
    if (result === undefined) return
    if (isNothing(result))
      this.gaps.push({ atMs: endMs, position, path: 'output', name: undefined, isWhole: true })
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
        this.#addValue(readResult(part.result), { by: 'step', atMs, position, path }, 0)
      }
    }
  }

  #addText(text: string, appearance: Appearance): void {
    if (text === '') return
    if (appearance.by === 'user') this.firstAskedMs = Math.min(this.firstAskedMs, appearance.atMs)
    const looked = text.slice(0, TEXT_LOOKED_AT).toLowerCase()
    // A conversation is sent again with every call: what was seen before is not seen anew.
    const known = this.#textsSeen.get(looked)
    if (known !== undefined && known.by === appearance.by && known.atMs <= appearance.atMs) return
    this.#textsSeen.set(looked, appearance)
    this.#texts.push({ text: looked, appearance })
  }

  #addValue(value: unknown, appearance: Appearance, depth: number): void {
    if (typeof value === 'string' && /\s/.test(value)) this.#addText(value, appearance)
    if (isTelling(value) || isFilledObject(value)) {
      const appearances = this.#places.get(keyOf(value))
      if (appearances === undefined) this.#places.set(keyOf(value), [appearance])
      else appearances.push(appearance)
    }
    if (typeof value !== 'object' || value === null || depth >= DEEPEST) return
    for (const [key, item] of Object.entries(value).slice(0, PLACES_LOOKED_AT)) {
      const path = Array.isArray(value) ? `${appearance.path}[${key}]` : `${appearance.path}.${key}`
      if (isNothing(item) && appearance.by === 'step')
        this.gaps.push({ ...appearance, path, name: key, isWhole: false })
      this.#addValue(item, { ...appearance, path }, depth + 1)
    }
  }
}

/** An object or a list with something in it, and not too much to be compared as a whole. */
function isFilledObject(value: unknown): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    countParts(value, 0) > 0 &&
    countParts(value, 0) <= MOST_PARTS
  )
}

function countParts(value: object, depth: number): number {
  let count = 0
  for (const item of Object.values(value)) {
    count += 1
    if (count > MOST_PARTS || depth > DEEPEST) return MOST_PARTS + 1
    if (typeof item === 'object' && item !== null) count += countParts(item, depth + 1)
  }
  return count
}

/** "129.50", 129.5 and "129.5" are one value, and so are objects whose keys come in another order. */
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
