import { MAX_ITEMS, requireItems, requireNumber, requireOptions, requireText } from '@playhead/model'

/**
 * Generates phrasings of an input by rules. The same seed always gives the same ones; no model is involved.
 *
 * @example
 * inputs: variations("I was charged twice. Please help.").typos({ count: 3 }).caseAndPunctuation().reorderSentences()
 */
export function variations(text: string, options?: { seed?: number }): Variations {
  return new Variations(text, requireOptions(options).seed ?? 1)
}

export class Variations implements Iterable<string> {
  readonly #text: string
  readonly #seed: number
  readonly #made = new Set<string>()

  constructor(text: string, seed: number) {
    this.#text = requireText(text, 'The text to vary')
    this.#seed = requireNumber(seed, 'The seed')
    this.#made.add(text)
  }

  [Symbol.iterator](): IterableIterator<string> {
    return this.#made.values()
  }

  /** Omits, doubles and mistypes letters; `rate` is the share of letters that change. */
  typos(options?: { rate?: number; count?: number }): this {
    const { rate = 0.05, count = 3 } = requireOptions(options)
    requireNumber(rate, 'The rate of typos', { min: 0, max: 1 })
    return this.#add(count, 'typos', (random) => addTypos(this.#text, rate, random))
  }

  /** Lower case, upper case and random case. */
  changeCase(): this {
    this.#made.add(this.#text.toLowerCase()).add(this.#text.toUpperCase())
    return this.#add(1, 'case', (random) =>
      Array.from(this.#text, (letter) => (random() < 0.5 ? letter.toUpperCase() : letter.toLowerCase())).join(
        '',
      ),
    )
  }

  /** Without punctuation, without the final mark, with too many marks, and with odd spacing. */
  punctuation(): this {
    const bare = this.#text.replaceAll(/[.,;:!?'"…]+/g, '')
    this.#made.add(bare).add(this.#text.replace(/[.!?…\s]+$/, ''))
    this.#made.add(`${this.#text.replace(/[.!?…\s]+$/, '')}!!!`)
    this.#made.add(`  ${this.#text.replaceAll(' ', '  ')} `)
    return this
  }

  caseAndPunctuation(): this {
    return this.changeCase().punctuation()
  }

  /** Shuffles the sentences; adds nothing for a single one. */
  reorderSentences(count = 2): this {
    requireCount(count)
    const sentences = this.#text.match(/[^.!?…]+[.!?…]*/g)?.map((sentence) => sentence.trim()) ?? []
    if (sentences.length < 2) return this
    return this.#add(count, 'order', (random) => shuffle(sentences, random).join(' '))
  }

  /** Adds an unrelated text before and after. */
  distractor(text: string): this {
    requireText(text, 'The distractor')
    this.#made.add(`${this.#text} ${text}`).add(`${text} ${this.#text}`)
    return this
  }

  /** Lookalike characters, decomposed accents, zero-width and no-break spaces, curly quotes, and full-width forms. */
  unicode(): this {
    this.#made
      .add(this.#text.replaceAll(/[aeiop]/g, (letter) => lookalikes[letter] ?? letter))
      .add(this.#text.normalize('NFD').replace(/\w/, '$&\u200B'))
      .add(this.#text.replaceAll("'", '’').replaceAll(' ', '\u00A0'))
      .add(Array.from(this.#text, toFullWidth).join(''))
    return this
  }

  /** Adds phrasings that you wrote yourself. */
  paraphrases(texts: Iterable<string>): this {
    for (const text of requireItems(texts, 'The paraphrases'))
      this.#made.add(requireText(text, 'A paraphrase'))
    return this
  }

  /** Adds `count` new variations; gives up after many duplicates. */
  #add(count: number, kind: string, make: (random: () => number) => string): this {
    requireCount(count)
    const random = createRandom(`${this.#seed} ${kind} ${this.#text}`)
    const wanted = this.#made.size + count
    for (let tries = 0; this.#made.size < wanted && tries < count * 20; tries += 1)
      this.#made.add(make(random))
    return this
  }
}

function requireCount(count: unknown): void {
  requireNumber(count, 'The number of variations', { min: 0, max: MAX_ITEMS, isWhole: true })
}

const lookalikes: Record<string, string> = { a: '\u0430', e: '\u0435', i: '\u0456', o: '\u043E', p: '\u0440' }

/** Neighbouring keys on a QWERTY keyboard. */
const rows = ['qwertyuiop', 'asdfghjkl', 'zxcvbnm']

function addTypos(text: string, rate: number, random: () => number): string {
  const letters = Array.from(text)
  const places = [...letters.keys()].filter((index) => /[a-z]/i.test(letters[index]!))
  const wanted = Math.max(1, Math.round(places.length * rate))
  for (const place of shuffle(places, random).slice(0, wanted))
    letters[place] = mistype(letters, place, random)
  return letters.join('')
}

function mistype(letters: readonly string[], place: number, random: () => number): string {
  const letter = letters[place]!
  const way = Math.floor(random() * 4)
  if (way === 0) return ''
  if (way === 1) return letter + letter
  const row = rows.find((keys) => keys.includes(letter.toLowerCase())) ?? rows[0]!
  const index = row.indexOf(letter.toLowerCase())
  const beside = row[index + (random() < 0.5 ? -1 : 1)] ?? row[1]!
  return way === 2 ? beside : beside + letter
}

function toFullWidth(letter: string): string {
  const code = letter.codePointAt(0)!
  return code > 0x20 && code < 0x7f ? String.fromCodePoint(code + 0xfee0) : letter
}

function shuffle<Item>(items: readonly Item[], random: () => number): Item[] {
  const shuffled = [...items]
  for (let index = shuffled.length - 1; index > 0; index -= 1) {
    const other = Math.floor(random() * (index + 1))
    ;[shuffled[index], shuffled[other]] = [shuffled[other]!, shuffled[index]!]
  }
  return shuffled
}

/** Seeded random numbers from 0 to 1: mulberry32, seeded with an FNV-1a hash of the text. */
function createRandom(seed: string): () => number {
  let state = 2_166_136_261
  for (const character of seed) state = Math.imul(state ^ character.codePointAt(0)!, 16_777_619)
  return () => {
    state = (state + 0x6d_2b_79_f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
