import type { Point } from './layout-graph.ts'

/** A smooth line through points from layer to layer; it leaves and reaches nodes at their edge. */
export function edgePath(points: readonly Point[], nodeHeight: number): string {
  const [first, last] = [points[0]!, points.at(-1)!]
  const direction = last.y >= first.y ? 1 : -1
  const half = (nodeHeight / 2) * direction
  const ends: Point[] = [
    { x: first.x, y: first.y + half },
    ...points.slice(1, -1),
    { x: last.x, y: last.y - half },
  ]
  let path = `M${place(ends[0]!)}`
  for (let index = 1; index < ends.length; index += 1) {
    const [from, to] = [ends[index - 1]!, ends[index]!]
    const middle = (from.y + to.y) / 2
    path += `C${place({ x: from.x, y: middle })} ${place({ x: to.x, y: middle })} ${place(to)}`
  }
  return path
}

function place({ x, y }: Point): string {
  return `${Math.round(x * 10) / 10},${Math.round(y * 10) / 10}`
}

/** Where a label does not hide a node: between the first two layers that an edge passes. */
export function labelPlace(points: readonly Point[]): Point {
  const at = Math.max(1, Math.floor(points.length / 2))
  const [from, to] = [points[at - 1]!, points[at]!]
  return { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 }
}
