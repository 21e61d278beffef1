import type { DecisionGraph, GraphEdge, GraphNode } from '../api/graph.ts'

export type VisibleGraph = { nodes: GraphNode[]; edges: GraphEdge[]; shownVariants: number }

/**
 * The graph of the most common ways that together make this percentage of the sessions; at least one way. All of it at
 * 100, also what only ways too rare to be listed have.
 */
export function visibleGraph(graph: DecisionGraph, detail: number): VisibleGraph {
  if (detail >= 100) return { nodes: graph.nodes, edges: graph.edges, shownVariants: graph.variantCount }
  const wanted = (graph.sessions * detail) / 100
  const [nodes, edges] = [new Set<string>(['start']), new Set<string>()]
  let [covered, shownVariants] = [0, 0]
  for (const variant of graph.variants) {
    if (shownVariants > 0 && covered >= wanted) break
    covered += variant.sessions
    shownVariants += 1
    for (const [index, id] of variant.path.entries()) {
      nodes.add(id)
      edges.add(keyOf(index === 0 ? 'start' : variant.path[index - 1]!, id))
    }
    addEnds(variant, graph, { nodes, edges })
  }
  return {
    nodes: graph.nodes.filter(({ id }) => nodes.has(id)),
    edges: graph.edges.filter(({ from, to }) => edges.has(keyOf(from, to))),
    shownVariants,
  }
}

function addEnds(
  { path, failure }: DecisionGraph['variants'][number],
  graph: DecisionGraph,
  { nodes, edges }: { nodes: Set<string>; edges: Set<string> },
): void {
  const last = path.at(-1) ?? 'start'
  for (const { from, to } of graph.edges) {
    if (from !== last || !to.startsWith('end ')) continue
    const isDecided = to === 'end fail' || to === 'end success'
    const isOwn = to === 'end fail' ? failure.failed > 0 : failure.failed < failure.ended
    if (isDecided && !isOwn) continue
    nodes.add(to)
    edges.add(keyOf(from, to))
  }
}

function keyOf(from: string, to: string): string {
  return `${from}\u0000${to}`
}

/** True when failures are more frequent here than in all, beyond what the number of sessions leaves to chance. */
export function failsMore(
  { failed, ended, interval }: GraphNode['failure'],
  overall: GraphNode['failure'],
): boolean {
  return failed > 0 && ended > 0 && overall.rate !== null && interval.low > overall.rate
}
