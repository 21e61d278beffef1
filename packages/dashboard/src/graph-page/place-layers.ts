import type { Layers, Slot } from './assign-layers.ts'
import type { Layout, LayoutInput, Point } from './layout-graph.ts'

const BETWEEN_NODES = 34
const BETWEEN_LAYERS = 46
const BEND_WIDTH = 56
const ROUNDS = 16
const MARGIN = 18
/** Leaves space for the labels of the outermost edges. */
const SIDE_MARGIN = 40

/** Computes positions: each slot as close to its neighbours as its layer allows, weighted by their edges. */
export function placeLayers({ layers, links, routes }: Layers, { nodes }: LayoutInput): Layout {
  const sizes = new Map(nodes.map((node) => [node.id, node]))
  const widthOf = ({ id, isBend }: Slot) => (isBend ? BEND_WIDTH : sizes.get(id)!.width)
  const xs = new Map<string, number>()
  for (const layer of layers) spread(layer, widthOf, xs, () => undefined)
  const around = new Map<string, { id: string; weight: number }[]>()
  for (const { from, to, weight } of links) {
    around.set(from, [...(around.get(from) ?? []), { id: to, weight }])
    around.set(to, [...(around.get(to) ?? []), { id: from, weight }])
  }
  const wanted = ({ id }: Slot) => {
    const neighbours = around.get(id) ?? []
    const weight = neighbours.reduce((sum, neighbour) => sum + neighbour.weight, 0)
    return weight === 0
      ? undefined
      : neighbours.reduce((sum, neighbour) => sum + xs.get(neighbour.id)! * neighbour.weight, 0) / weight
  }
  for (let round = 0; round < ROUNDS; round += 1)
    for (const layer of round % 2 === 0 ? layers : layers.toReversed()) spread(layer, widthOf, xs, wanted)
  return toLayout({ layers, routes, xs, widthOf, sizes })
}

/** Places the slots of a layer at their preferred positions, and pushes them apart where they overlap. */
function spread(
  layer: readonly Slot[],
  widthOf: (slot: Slot) => number,
  xs: Map<string, number>,
  wanted: (slot: Slot) => number | undefined,
): void {
  const goals = layer.map((slot) => wanted(slot) ?? xs.get(slot.id) ?? 0)
  const gap = (index: number) => (widthOf(layer[index - 1]!) + widthOf(layer[index]!)) / 2 + BETWEEN_NODES
  const fromLeft = [...goals]
  for (let index = 1; index < layer.length; index += 1)
    fromLeft[index] = Math.max(goals[index]!, fromLeft[index - 1]! + gap(index))
  const fromRight = [...goals]
  for (let index = layer.length - 2; index >= 0; index -= 1)
    fromRight[index] = Math.min(goals[index]!, fromRight[index + 1]! - gap(index + 1))
  // Both arrangements keep the gaps, and so does their average.
  for (const [index, slot] of layer.entries()) xs.set(slot.id, (fromLeft[index]! + fromRight[index]!) / 2)
}

function toLayout({
  layers,
  routes,
  xs,
  widthOf,
  sizes,
}: Pick<Layers, 'layers' | 'routes'> & {
  xs: Map<string, number>
  widthOf: (slot: Slot) => number
  sizes: Map<string, { height: number }>
}): Layout {
  const slots = layers.flat()
  const left = Math.min(...slots.map((slot) => xs.get(slot.id)! - widthOf(slot) / 2), 0)
  const right = Math.max(...slots.map((slot) => xs.get(slot.id)! + widthOf(slot) / 2), 0)
  const rowHeight = Math.max(0, ...[...sizes.values()].map(({ height }) => height))
  const points = new Map<string, Point>()
  for (const [index, layer] of layers.entries())
    for (const { id } of layer)
      points.set(id, {
        x: xs.get(id)! - left + SIDE_MARGIN,
        y: MARGIN + rowHeight / 2 + index * (rowHeight + BETWEEN_LAYERS),
      })
  const real = slots.filter(({ isBend }) => !isBend)
  return {
    width: right - left + 2 * SIDE_MARGIN,
    height: 2 * MARGIN + layers.length * rowHeight + (layers.length - 1) * BETWEEN_LAYERS,
    nodes: Object.fromEntries(real.map(({ id }) => [id, points.get(id)!])),
    edges: routes.map(({ edge, slots: route }) => ({
      from: edge.from,
      to: edge.to,
      points: route.map((id) => points.get(id)!),
    })),
  }
}
