import type { CSSProperties } from 'react'
import type { DecisionGraph, GraphEdge } from '@playhead/model'
import { writeEdge, type Metric } from './graph-search.ts'
import type { Point } from './layout-graph.ts'
import { edgeLabel, describeFailures, describeLift } from './metric-labels.ts'
import { failedShare, pickable } from './pickable.ts'
import { failsMore } from './visible-graph.ts'

const LABEL_CHARACTER_WIDTH = 6.2
const LABEL_HEIGHT = 19

type EdgeProps = {
  edge: GraphEdge
  points: readonly Point[]
  graph: DecisionGraph
  isPicked: boolean
  isFollowed: boolean
  onPick: (pick: string) => void
}

/** The line of an edge; labels are drawn separately, above all lines. */
export function EdgeLine({ nodeHeight, ...props }: EdgeProps & { nodeHeight: number }) {
  const { edge, points, graph, onPick } = props
  const path = edgePath(points, nodeHeight)
  const width = 1.5 + 7 * Math.sqrt(edge.sessions / Math.max(1, graph.sessions))
  return (
    <g {...looksOf(props)} onClick={() => onPick(writeEdge(edge.from, edge.to))} aria-hidden="true">
      <path d={path} className="graph-edge-reach" />
      <path d={path} className="graph-edge-line" style={{ strokeWidth: width }} />
    </g>
  )
}

/** The label of an edge, which also makes it focusable. */
export function EdgeLabel({ metric, ...props }: EdgeProps & { metric: Metric }) {
  const { edge, points, graph, onPick } = props
  const place = labelPlace(points)
  const words = edgeLabel(edge, metric)
  const width = words.length * LABEL_CHARACTER_WIDTH + 12
  const more = failsMore(edge.failure, graph.failure) ? `, ${describeLift(edge.failure, graph) ?? ''}` : ''
  return (
    <g
      {...looksOf(props)}
      transform={`translate(${place.x} ${place.y})`}
      {...pickable(
        writeEdge(edge.from, edge.to),
        `${plain(edge.from)} to ${plain(edge.to)}: ${words}`,
        onPick,
      )}
    >
      <rect
        className="graph-label-box"
        x={-width / 2}
        y={-LABEL_HEIGHT / 2}
        width={width}
        height={LABEL_HEIGHT}
        rx={LABEL_HEIGHT / 2}
      />
      <text className="graph-label" textAnchor="middle" dominantBaseline="central">
        {words}
      </text>
      <title>{`${describeFailures(edge.failure)}${more}`}</title>
    </g>
  )
}

function looksOf({ edge, graph, isPicked, isFollowed }: EdgeProps): {
  className: string
  style: CSSProperties
} {
  const names = [
    'graph-edge',
    isPicked && 'is-picked',
    failsMore(edge.failure, graph.failure) && 'is-more',
    isFollowed && 'is-followed',
  ]
  return {
    className: names.filter(Boolean).join(' '),
    style: { '--failed': failedShare(edge.failure) } as CSSProperties,
  }
}

function plain(id: string): string {
  return id.replace(/^(action|llm|agent|retrieval|handoff|guardrail) /, '')
}

/** A smooth path through the points, from the border of one node to the border of the other. */
function edgePath(points: readonly Point[], nodeHeight: number): string {
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

/** Between two layers, so that the label does not cover a node. */
function labelPlace(points: readonly Point[]): Point {
  const at = Math.max(1, Math.floor(points.length / 2))
  const [from, to] = [points[at - 1]!, points[at]!]
  return { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 }
}
