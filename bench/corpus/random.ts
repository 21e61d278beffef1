/** Random numbers that are the same for the same seed (mulberry32), so that every run uses the same corpus. */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** From 0 to 1, exclusive. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }

  /** A whole number from 0 to `limit`, exclusive. */
  below(limit: number): number {
    return Math.floor(this.next() * limit)
  }

  between(low: number, high: number): number {
    return low + this.below(high - low)
  }

  /** Mostly small numbers and few large ones, like durations and sizes in practice. */
  skewed(low: number, high: number): number {
    return low + Math.floor((high - low) * this.next() ** 3)
  }

  chance(share: number): boolean {
    return this.next() < share
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)]!
  }

  /** Picks items at the front more often than items at the back. */
  pickSkewed<Item>(items: readonly Item[]): Item {
    return items[Math.floor(items.length * this.next() ** 2)]!
  }

  hex(digits: number): string {
    let text = ''
    while (text.length < digits) text += this.below(0x1_0000_0000).toString(16).padStart(8, '0')
    return text.slice(0, digits)
  }
}
