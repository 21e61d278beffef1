import type { Layers, Link, Slot } from './assign-layers.ts'

const SWEEPS = 24

/** Orders each layer to reduce crossings: sweeps down and up, and moves slots to the middle of their neighbours. */
export function orderLayers(layered: Layers): Layers {
  const above = Map.groupBy(layered.links, ({ to }) => to)
  const below = Map.groupBy(layered.links, ({ from }) => from)
  let layers = layered.layers.map((layer) => [...layer])
  let [best, fewest] = [layers, countCrossings(layers, below)]
  for (let sweep = 0; sweep < SWEEPS && fewest > 0; sweep += 1) {
    const isDown = sweep % 2 === 0
    layers = sweepOnce(layers, isDown ? above : below, isDown)
    const crossings = countCrossings(layers, below)
    if (crossings < fewest) [best, fewest] = [layers, crossings]
  }
  return { ...layered, layers: best }
}

function sweepOnce(
  layers: readonly Slot[][],
  neighbours: ReadonlyMap<string, Link[]>,
  isDown: boolean,
): Slot[][] {
  const swept = layers.map((layer) => [...layer])
  const indexes = layers.map((_, index) => index)
  for (const index of isDown ? indexes.slice(1) : indexes.slice(0, -1).toReversed()) {
    const fixed = new Map(swept[isDown ? index - 1 : index + 1]!.map(({ id }, place) => [id, place]))
    const middle = (slot: Slot, place: number) => {
      const links = (neighbours.get(slot.id) ?? []).flatMap(({ from, to, weight }) => {
        const at = fixed.get(isDown ? from : to)
        return at === undefined ? [] : [{ at, weight }]
      })
      const weight = links.reduce((sum, link) => sum + link.weight, 0)
      return weight === 0 ? place : links.reduce((sum, link) => sum + link.at * link.weight, 0) / weight
    }
    swept[index] = swept[index]!.map((slot, place) => ({ slot, place, middle: middle(slot, place) }))
      .toSorted((one, other) => one.middle - other.middle || one.place - other.place)
      .map(({ slot }) => slot)
  }
  return swept
}

/** The number of pairs of edges that cross. */
function countCrossings(layers: readonly Slot[][], below: ReadonlyMap<string, Link[]>): number {
  let crossings = 0
  for (const [index, layer] of layers.slice(0, -1).entries()) {
    const places = new Map(layers[index + 1]!.map(({ id }, place) => [id, place]))
    const ends = layer.flatMap(({ id }) =>
      (below.get(id) ?? []).flatMap(({ to }) => places.get(to) ?? []).toSorted((one, other) => one - other),
    )
    for (let one = 0; one < ends.length; one += 1)
      for (let other = one + 1; other < ends.length; other += 1) if (ends[one]! > ends[other]!) crossings += 1
  }
  return crossings
}
