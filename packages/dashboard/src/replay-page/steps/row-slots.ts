type ShownRow = {
  index: number
  /** Rows of the same looks differ only in their numbers. Empty: not known. */
  looks: string
}

/**
 * Which element shows which row of the list. A row keeps its element while the list scrolls. After a jump, a row takes an element that
 * looked the same, so that only its numbers change; the other elements stay where they are on the screen. Mounting rows costs more.
 */
export class RowSlots {
  #slots: (ShownRow & { slot: number })[] = []
  #slotCount = 0

  /** The slots of these rows, in their order. */
  assign(rows: readonly ShownRow[]): number[] {
    const shown = new Set(rows.map(({ index }) => index))
    const kept = new Map(this.#slots.map(({ index, slot }) => [index, slot]))
    const free = this.#slots.filter(({ index }) => !shown.has(index))
    const take = (at: number) => free.splice(at, 1)[0]?.slot
    const alike = rows.map(({ index, looks }) => {
      if (kept.has(index)) return kept.get(index)
      const at = looks === '' ? -1 : free.findIndex((one) => one.looks === looks)
      return at < 0 ? undefined : take(at)
    })
    this.#slots = rows.map((row, place) => ({ ...row, slot: alike[place] ?? take(0) ?? this.#slotCount++ }))
    return this.#slots.map(({ slot }) => slot)
  }
}
