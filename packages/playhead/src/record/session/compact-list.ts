/** Something that knows where it is in the list that holds it. */
export type Listed = { listIndex: number }

/**
 * A collection for things that come and go by the thousand. A `Map` or `Set` would do, but theirs is garbage of the worst
 * kind: every table that is outgrown points to the next, so that the first one to grow old keeps all that followed, and all
 * that they held, from being collected young. With one `Set` per step a step costs three times as much.
 */
export class CompactList<Item extends Listed> implements Iterable<Item> {
  readonly #items: Item[] = []

  get size(): number {
    return this.#items.length
  }

  add(item: Item): void {
    if (item.listIndex >= 0) return
    item.listIndex = this.#items.length
    this.#items.push(item)
  }

  /** The last takes the place of the one that goes. False when it was not there. */
  remove(item: Item): boolean {
    const { listIndex } = item
    if (listIndex < 0 || this.#items[listIndex] !== item) return false
    const last = this.#items.pop()!
    if (last !== item) {
      this.#items[listIndex] = last
      last.listIndex = listIndex
    }
    item.listIndex = -1
    return true
  }

  [Symbol.iterator](): Iterator<Item> {
    return this.#items[Symbol.iterator]()
  }
}
