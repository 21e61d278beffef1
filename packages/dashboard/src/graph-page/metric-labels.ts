import {
  countOf,
  formatCost,
  formatDuration,
  formatPercent,
  type DecisionGraph,
  type GraphEdge,
  type GraphFailure,
  type GraphNode,
} from '@playhead/model'
import type { Metric } from './graph-search.ts'

/** The text below the name of a node. */
export function nodeLabel(node: GraphNode, metric: Metric): string {
  switch (metric) {
    case 'failure':
      return describeFailures(node.failure)
    case 'cost':
      return node.cost === null ? 'cost unknown' : `${formatCost(node.cost)} per session`
    case 'time':
      return node.p90Ms === null ? countOf(node.sessions, 'session') : `p90 ${formatDuration(node.p90Ms)}`
    default:
      return node.times > node.sessions
        ? `${countOf(node.sessions, 'session')} · ${node.times.toLocaleString('en')} times`
        : countOf(node.sessions, 'session')
  }
}

/** The label of an edge: the number of sessions, and the failure rate if any failed. */
export function edgeLabel(edge: GraphEdge, metric: Metric): string {
  const count = edge.sessions.toLocaleString('en')
  if (metric === 'cost') return edge.cost === null ? count : formatCost(edge.cost)
  const { failed, ended, rate } = edge.failure
  if (failed === 0 || rate === null || ended === 0) return count
  return `${count} · ${formatPercent(rate)} fail`
}

export function describeFailures({ failed, ended }: GraphFailure): string {
  if (ended === 0) return 'no results yet'
  return `${failed} of ${ended} failed`
}

/** The failure rate relative to all sessions: "2.5× the usual rate". */
export function describeLift({ rate }: GraphFailure, { failure }: DecisionGraph): string | undefined {
  if (rate === null || failure.rate === null || failure.rate === 0) return undefined
  return `${(rate / failure.rate).toFixed(1)}× the usual rate`
}
