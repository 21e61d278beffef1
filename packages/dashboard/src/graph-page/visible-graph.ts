import type { DecisionGraph, GraphEdge, GraphNode } from '@playhead/model'

export type VisibleGraph = { nodes: GraphNode[]; edges: GraphEdge[]; shownVariants: number }

/**
 * The part of the graph that the most common paths use, which together cover this percentage of the sessions; at least one
 * path. At 100 it is the whole graph, including paths that are too rare to be listed.
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
  return JSON.stringify([from, to])
}

const SIGNIFICANCE_LEVEL = 0.05

/**
 * Whether these sessions fail significantly more often than all sessions: Fisher's exact test, one-sided. With 2 failures
 * in 6 sessions, a group of 2 that both failed is not significant.
 */
export function failsMore(
  { failed, ended }: GraphNode['failure'],
  { failed: allFailed, ended: all }: GraphNode['failure'],
): boolean {
  if (failed === 0 || failed * all <= allFailed * ended) return false
  let chance = 0
  for (let count = failed; count <= Math.min(ended, allFailed); count += 1)
    chance += Math.exp(
      logChoose(allFailed, count) + logChoose(all - allFailed, ended - count) - logChoose(all, ended),
    )
  return chance < SIGNIFICANCE_LEVEL
}

function logChoose(n: number, k: number): number {
  if (k < 0 || k > n) return -Infinity
  return logFactorial(n) - logFactorial(k) - logFactorial(n - k)
}

const logFactorials = [0]

function logFactorial(count: number): number {
  for (let next = logFactorials.length; next <= count; next += 1)
    logFactorials.push(logFactorials[next - 1]! + Math.log(next))
  return logFactorials[count]!
}
