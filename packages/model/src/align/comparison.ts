import { readTimeToken, shapeOfText, TIME_SHAPE, type VolatileToken } from './text-shape.ts'

export type Side = {
  /** The start of the session in milliseconds since 1970. */
  startedAtMs: number
  durationMs: number
  /** The ids in the session. */
  ids: ReadonlySet<string>
  /** Its clock may have been that of the session that it repeats. */
  isRerun?: boolean
}

/** Times this close to each other, relative to the session's start, count as equal. */
const SAME_MOMENT_MS = 60_000
const MAX_TEXTS = 40
const MIN_TEXT_LENGTH = 4

/**
 * What is known so far while two sessions are compared in order: which ids correspond, and which texts differ for a
 * known reason.
 */
export class Comparison {
  readonly #a: Side
  readonly #b: Side
  readonly #bOfA = new Map<string, string>()
  readonly #aOfB = new Map<string, string>()
  readonly #known: [a: string, b: string][] = []

  constructor(a: Side, b: Side) {
    this.#a = a
    this.#b = b
  }

  /** Notes two texts that differ for a known reason, so that later copies of them count as equal. */
  remember(a: string, b: string): void {
    const [left, right] = [a.trim(), b.trim()]
    if (left === right) return
    this.#add(...withoutCommonEnds(left, right))
    this.#add(left, right)
  }

  #add(a: string, b: string): void {
    if (a.length < MIN_TEXT_LENGTH || b.length < MIN_TEXT_LENGTH) return
    if (this.#known.some(([one, other]) => one === a && other === b)) return
    this.#known.unshift([a, b])
    if (this.#known.length > MAX_TEXTS) this.#known.pop()
  }

  /** True when the texts are equal except for ids, timestamps and known differences. */
  isSameText(a: string, b: string): boolean {
    if (a === b) return true
    if (this.#isSameButVolatile(a, b)) return true
    let [left, right] = [a, b]
    for (const [index, [known, other]] of this.#known.entries()) {
      if (!left.includes(known) || !right.includes(other)) continue
      left = left.replaceAll(known, `⟨known ${index}⟩`)
      right = right.replaceAll(other, `⟨known ${index}⟩`)
    }
    return (left !== a || right !== b) && (left === right || this.#isSameButVolatile(left, right))
  }

  #isSameButVolatile(a: string, b: string): boolean {
    const [leftTokens, rightTokens]: VolatileToken[][] = [[], []]
    const left = shapeOfText(a, (token) => leftTokens!.push(token))
    const right = shapeOfText(b, (token) => rightTokens!.push(token))
    if (left !== right || leftTokens!.length === 0) return false
    return leftTokens!.every((token, index) => this.#isSameToken(token, rightTokens![index]!))
  }

  #isSameToken(a: VolatileToken, b: VolatileToken): boolean {
    if (a.text === b.text) return true
    if (a.shape === TIME_SHAPE) return this.#isSameMoment(a.text, b.text)
    // An id that occurs in both sessions was not generated during the run.
    if (this.#b.ids.has(a.text) || this.#a.ids.has(b.text)) return false
    const [known, knownBack] = [this.#bOfA.get(a.text), this.#aOfB.get(b.text)]
    if (known === undefined && knownBack === undefined) {
      this.#bOfA.set(a.text, b.text)
      this.#aOfB.set(b.text, a.text)
      return true
    }
    return known === b.text && knownBack === a.text
  }

  #isSameMoment(a: string, b: string): boolean {
    const [left, right] = [readTimeToken(a), readTimeToken(b)]
    const most = SAME_MOMENT_MS + Math.max(this.#a.durationMs, this.#b.durationMs)
    const isRerun = this.#a.isRerun === true || this.#b.isRerun === true
    if (isRerun && Math.abs(left - right) <= most) return true
    return Math.abs(left - this.#a.startedAtMs - (right - this.#b.startedAtMs)) <= most
  }
}

/** "Classify: charged twice" and "Classify: two bills" differ in "charged twice" and "two bills". */
function withoutCommonEnds(a: string, b: string): [a: string, b: string] {
  const [left, right] = [a.split(/(?<=\s)/), b.split(/(?<=\s)/)]
  let start = 0
  while (start < left.length && start < right.length && left[start] === right[start]) start += 1
  let end = 0
  const most = Math.min(left.length, right.length) - start
  while (end < most && left.at(-1 - end) === right.at(-1 - end)) end += 1
  const middle = (words: string[]) =>
    words
      .slice(start, words.length - end)
      .join('')
      .trim()
  return [middle(left), middle(right)]
}
