import type { Layout, LayoutInput } from './layout-graph.ts'

const COLUMNS = 4
const GAP = 40

/** Nodes row by row with straight edges: what is shown when a graph takes too long to lay out. */
export function plainLayout({ nodes, edges }: LayoutInput): Layout {
  const width = Math.max(0, ...nodes.map((node) => node.width)) + GAP
  const height = Math.max(0, ...nodes.map((node) => node.height)) + GAP
  const places = Object.fromEntries(
    nodes.map(({ id }, index) => [
      id,
      { x: ((index % COLUMNS) + 0.5) * width, y: (Math.floor(index / COLUMNS) + 0.5) * height },
    ]),
  )
  return {
    width: COLUMNS * width,
    height: Math.ceil(nodes.length / COLUMNS) * height,
    nodes: places,
    edges: edges
      .filter(({ from, to }) => from !== to)
      .map(({ from, to }) => ({ from, to, points: [places[from]!, places[to]!] })),
  }
}
