import type { LayoutEdge, LayoutInput } from './layout-graph.ts'

/** A place in a layer: a node, or a bend of an edge that passes through. */
export type Slot = { id: string; isBend: boolean }

export type Link = { from: string; to: string; weight: number }

export type Layers = {
  layers: Slot[][]
  /** Edges between adjacent layers; a longer edge is split. */
  links: Link[]
  /** The slots of each edge, from start to end. */
  routes: { edge: LayoutEdge; slots: string[] }[]
}

/** Puts each node below its predecessors; edges of cycles are reversed for this. */
export function assignLayers({ nodes, edges }: LayoutInput): Layers {
  const ids = nodes.map(({ id }) => id)
  const real = edges.filter(({ from, to }) => from !== to)
  const forward = breakCycles(ids, real)
  const depths = longestPaths(ids, forward)
  const last = Math.max(0, ...depths.values())
  for (const id of ids) if (id.startsWith('end ')) depths.set(id, last)
  const layers: Slot[][] = Array.from({ length: last + 1 }, () => [])
  for (const id of ids) layers[depths.get(id)!]!.push({ id, isBend: false })
  const links: Link[] = []
  const routes = real.map((edge) => ({ edge, slots: routeEdge(edge, { depths, layers, links }) }))
  return { layers, links, routes }
}

/** Reverses the edges that close a cycle, found by a depth-first search along the heaviest edges. */
function breakCycles(ids: readonly string[], edges: readonly LayoutEdge[]): Link[] {
  const outgoing = Map.groupBy(
    edges.toSorted((one, other) => other.weight - one.weight),
    ({ from }) => from,
  )
  const [open, done] = [new Set<string>(), new Set<string>()]
  const forward: Link[] = []
  const visit = (id: string) => {
    open.add(id)
    for (const edge of outgoing.get(id) ?? []) {
      if (open.has(edge.to)) forward.push({ ...edge, from: edge.to, to: edge.from })
      else {
        forward.push(edge)
        if (!done.has(edge.to)) visit(edge.to)
      }
    }
    open.delete(id)
    done.add(id)
  }
  for (const id of ids) if (!done.has(id)) visit(id)
  return forward
}

function longestPaths(ids: readonly string[], links: readonly Link[]): Map<string, number> {
  const depths = new Map(ids.map((id) => [id, 0]))
  const incoming = new Map(ids.map((id) => [id, 0]))
  for (const { to } of links) incoming.set(to, (incoming.get(to) ?? 0) + 1)
  const outgoing = Map.groupBy(links, ({ from }) => from)
  const ready = ids.filter((id) => incoming.get(id) === 0)
  for (let id = ready.shift(); id !== undefined; id = ready.shift())
    for (const { to } of outgoing.get(id) ?? []) {
      depths.set(to, Math.max(depths.get(to)!, depths.get(id)! + 1))
      incoming.set(to, incoming.get(to)! - 1)
      if (incoming.get(to) === 0) ready.push(to)
    }
  return depths
}

function routeEdge(
  edge: LayoutEdge,
  { depths, layers, links }: { depths: Map<string, number>; layers: Slot[][]; links: Link[] },
): string[] {
  const [from, to] = [depths.get(edge.from)!, depths.get(edge.to)!]
  const step = from <= to ? 1 : -1
  const slots = [edge.from]
  const passed = Math.max(0, Math.abs(to - from) - 1)
  for (let bend = 1; bend <= passed; bend += 1) {
    const layer = from + bend * step
    const id = `bend ${edge.from} ${edge.to} ${layer}`
    layers[layer]!.push({ id, isBend: true })
    slots.push(id)
  }
  slots.push(edge.to)
  for (let index = 1; index < slots.length; index += 1) {
    const pair = [slots[index - 1]!, slots[index]!] as const
    const [upper, lower] = step === 1 ? pair : [pair[1], pair[0]]
    links.push({ from: upper, to: lower, weight: edge.weight })
  }
  return slots
}
