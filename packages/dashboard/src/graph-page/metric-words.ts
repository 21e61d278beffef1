import {
  countOf,
  formatCost,
  formatDuration,
  type DecisionGraph,
  type GraphEdge,
  type GraphFailure,
  type GraphNode,
} from '@playhead/model'
import type { Metric } from './graph-search.ts'

/** What stands below the name of a node. */
export function nodeWords(node: GraphNode, metric: Metric): string {
  switch (metric) {
    case 'failure':
      return failureWords(node.failure)
    case 'cost':
      return node.cost === null ? 'no cost known' : `${formatCost(node.cost)} a session`
    case 'time':
      return node.p90Ms === null ? countOf(node.sessions, 'session') : `p90 ${formatDuration(node.p90Ms)}`
    default:
      return node.times > node.sessions
        ? `${countOf(node.sessions, 'session')} · ${node.times.toLocaleString('en')} times`
        : countOf(node.sessions, 'session')
  }
}

/** What stands beside an edge: how many, and how many of them failed when any did. */
export function edgeWords(edge: GraphEdge, metric: Metric): string {
  const count = edge.sessions.toLocaleString('en')
  if (metric === 'cost') return edge.cost === null ? count : formatCost(edge.cost)
  const { failed, ended, rate } = edge.failure
  if (failed === 0 || rate === null || ended === 0) return count
  return `${count} · ${Math.round(rate * 100)} % fail`
}

export function failureWords({ failed, ended }: GraphFailure): string {
  if (ended === 0) return 'no verdict'
  return failed === 0 ? `0 of ${ended} failed` : `${failed} of ${ended} failed`
}

/** How much more often it fails here than in all: "2.5× the usual". */
export function liftWords({ rate }: GraphFailure, { failure }: DecisionGraph): string | undefined {
  if (rate === null || failure.rate === null || failure.rate === 0) return undefined
  return `${(rate / failure.rate).toFixed(1)}× the usual share`
}
