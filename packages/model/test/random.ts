const words =
  'amber birch copper delta ember flint grove harbor indigo jasper kelp lagoon maple north olive pine'.split(
    ' ',
  )

/** A seeded random generator. */
export type Random = {
  next(): number
  integer(low: number, high: number): number
  chance(share: number): boolean
  pick<Item>(items: readonly Item[]): Item
  pickMaybe<Item>(items: readonly Item[]): Item | undefined
  hex(length: number): string
  word(): string
  sentence(): string
}

export function createRandom(seed: number): Random {
  let state = (seed ^ 0x9e3779b9) >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
  const integer = (low: number, high: number) => low + Math.floor(next() * (high - low + 1))
  const pickMaybe = <Item>(items: readonly Item[]) => items[integer(0, items.length - 1)]
  const word = () => words[integer(0, words.length - 1)]!
  return {
    next,
    integer,
    chance: (share) => next() < share,
    pick: (items) => pickMaybe(items)!,
    pickMaybe,
    hex: (length) => Array.from({ length }, () => integer(0, 15).toString(16)).join(''),
    word,
    sentence: () => Array.from({ length: integer(1, 9) }, word).join(' '),
  }
}
