/** Groups that are not larger than a limit, or have only one member. */
export function* groupBySize<Item>(
  items: readonly Item[],
  sizeOf: (item: Item) => number,
  limit: number,
): Generator<Item[], void> {
  let group: Item[] = []
  let size = 0
  for (const item of items) {
    const own = sizeOf(item)
    if (group.length > 0 && size + own > limit) {
      yield group
      group = []
      size = 0
    }
    group.push(item)
    size += own
  }
  if (group.length > 0) yield group
}
