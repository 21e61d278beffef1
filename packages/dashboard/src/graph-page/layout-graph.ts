import { assignLayers } from './assign-layers.ts'
import { orderLayers } from './order-layers.ts'
import { placeLayers } from './place-layers.ts'

export type LayoutNode = { id: string; width: number; height: number }
export type LayoutEdge = { from: string; to: string; weight: number }
export type LayoutInput = { nodes: LayoutNode[]; edges: LayoutEdge[] }

export type Point = { x: number; y: number }
/** The middle of a node, and the points that an edge goes through. */
export type Layout = {
  width: number
  height: number
  nodes: Record<string, Point>
  edges: { from: string; to: string; points: Point[] }[]
}

/** Layers from start to end, few crossings, heavy edges straight: Sugiyama's method. */
export function layoutGraph(input: LayoutInput): Layout {
  const layered = assignLayers(input)
  return placeLayers(orderLayers(layered), input)
}
