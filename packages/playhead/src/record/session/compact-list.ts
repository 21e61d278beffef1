/** An item that knows its index in the list that holds it. */
export type Listed = { listIndex: number }

/**
 * An unordered collection for items that come and go by the thousand. `Map` and `Set` are hard on the garbage collector:
 * each outgrown table points to the next one, so a single old table keeps all later ones and their contents alive. With
 * one `Set` per step, a step costs three times as much.
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

  /** Moves the last item into the gap. Returns false if the item was not in the list. */
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
