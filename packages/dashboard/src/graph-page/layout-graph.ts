import { assignLayers } from './assign-layers.ts'
import { orderLayers } from './order-layers.ts'
import { placeLayers } from './place-layers.ts'

export type LayoutNode = { id: string; width: number; height: number }
export type LayoutEdge = { from: string; to: string; weight: number }
export type LayoutInput = { nodes: LayoutNode[]; edges: LayoutEdge[] }

export type Point = { x: number; y: number }
/** The centres of the nodes and the points of the edges. */
export type Layout = {
  width: number
  height: number
  nodes: Record<string, Point>
  edges: { from: string; to: string; points: Point[] }[]
}

/** A layered layout (Sugiyama's method) with few crossings, which keeps heavy edges straight. */
export function layoutGraph(input: LayoutInput): Layout {
  const layered = assignLayers(input)
  return placeLayers(orderLayers(layered), input)
}
