import { useMemo, useRef, type CSSProperties } from 'react'
import { describeEndState, visibleText, type DecisionGraph, type GraphNode } from '@playhead/model'
import { useWidth } from '../ui/browser/use-width.ts'
import { EdgeLabel, EdgeLine } from './graph-edge.tsx'
import { writeEdge, writeNode, type Metric } from './graph-search.ts'
import type { LayoutInput, Point } from './layout-graph.ts'
import { describeFailures, describeLift, nodeLabel } from './metric-labels.ts'
import { failedShare, pickable } from './pickable.ts'
import { useLayout } from './use-layout.ts'
import { failsMore, type VisibleGraph } from './visible-graph.ts'

const NODE_HEIGHT = 46
const NARROWEST = 108
const CHARACTER_WIDTH = 7.1
const SMALL_CHARACTER_WIDTH = 6
const WRITE_WIDTH = 40
const LONGEST_NAME = 30
const SMALLEST_SCALE = 0.55

type GraphViewProps = {
  graph: DecisionGraph
  visible: VisibleGraph
  metric: Metric
  pick: string | undefined
  /** A path to highlight. */
  followed: readonly string[] | undefined
  onPick: (pick: string) => void
}

/** Draws the graph from top to bottom. A line's width shows its sessions, its colour their failure rate. */
export function GraphView({ graph, visible, metric, pick, followed, onPick }: GraphViewProps) {
  const box = useRef<HTMLDivElement>(null)
  const room = useWidth(box)
  const input = useMemo(() => toInput(visible), [visible])
  const state = useLayout(input)
  if (state === undefined) return <div ref={box} className="graph-canvas" aria-busy="true" />
  const { layout, isPlain } = state
  const isFollowed = partsOfPath(followed)
  const scale = room === 0 ? 1 : Math.max(SMALLEST_SCALE, Math.min(1, room / layout.width))
  const edges = new Map(visible.edges.map((edge) => [writeEdge(edge.from, edge.to), edge]))
  const shownEdges = layout.edges.flatMap(({ from, to, points }) => {
    const id = writeEdge(from, to)
    const edge = edges.get(id)
    if (edge === undefined) return []
    return [{ edge, points, graph, onPick, isPicked: pick === id, isFollowed: isFollowed.has(id) }]
  })
  return (
    <div ref={box} className="graph-canvas">
      {isPlain && <p className="graph-note">This graph is too large for a good layout. Show less detail.</p>}
      <svg
        width={layout.width * scale}
        height={layout.height * scale}
        viewBox={`0 0 ${layout.width} ${layout.height}`}
        role="group"
        aria-label={`Decision graph of ${graph.sessions} sessions`}
      >
        {shownEdges.map((shown) => (
          <EdgeLine key={writeEdge(shown.edge.from, shown.edge.to)} {...shown} nodeHeight={NODE_HEIGHT} />
        ))}
        {shownEdges.map((shown) => (
          <EdgeLabel key={writeEdge(shown.edge.from, shown.edge.to)} {...shown} metric={metric} />
        ))}
        {visible.nodes.map((node) => {
          const place = layout.nodes[node.id]
          return (
            place !== undefined && (
              <NodeView
                key={node.id}
                {...{ node, place, graph, metric, pick, onPick }}
                isFollowed={isFollowed.has(node.id)}
                hasLoop={edges.has(writeEdge(node.id, node.id)) || node.times > node.sessions}
              />
            )
          )
        })}
      </svg>
    </div>
  )
}

function toInput({ nodes, edges }: VisibleGraph): LayoutInput {
  return {
    nodes: nodes.map((node) => ({ id: node.id, width: widthOf(node), height: NODE_HEIGHT })),
    edges: edges.map(({ from, to, sessions }) => ({ from, to, weight: sessions })),
  }
}

function widthOf(node: GraphNode): number {
  const words = nodeLabel(node, 'count').length * SMALL_CHARACTER_WIDTH
  const title = titleOf(node).length * CHARACTER_WIDTH + (node.isWrite ? WRITE_WIDTH : 0)
  return Math.max(NARROWEST, Math.round(Math.max(title, words)) + 34)
}

function titleOf({ kind, name, state }: GraphNode): string {
  if (kind === 'start') return 'Start'
  if (state !== undefined) return describeEndState(state)
  return name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME - 1)}…` : name
}

type Shared = Pick<GraphViewProps, 'graph' | 'metric' | 'pick' | 'onPick'> & { isFollowed: boolean }

function partsOfPath(path: readonly string[] | undefined): Set<string> {
  if (path === undefined) return new Set()
  const steps = ['start', ...path]
  return new Set([...steps, ...path.map((id, index) => writeEdge(steps[index]!, id))])
}

function NodeView({
  node,
  place,
  graph,
  metric,
  pick,
  onPick,
  isFollowed,
  hasLoop,
}: Shared & { node: GraphNode; place: Point; hasLoop: boolean }) {
  const width = widthOf(node)
  const words = nodeLabel(node, metric)
  return (
    <g
      className={nodeClass(node, { isPicked: pick === writeNode(node.id), isFollowed })}
      transform={`translate(${place.x} ${place.y})`}
      style={{ '--failed': failedShare(node.failure) } as CSSProperties}
      {...pickable(
        writeNode(node.id),
        `${titleOf(node)} ${words}, ${describeFailures(node.failure)}`,
        onPick,
      )}
    >
      <rect
        className="graph-node-box"
        x={-width / 2}
        y={-NODE_HEIGHT / 2}
        width={width}
        height={NODE_HEIGHT}
        rx={node.kind === 'start' || node.kind === 'end' ? NODE_HEIGHT / 2 : 9}
      />
      <rect
        className="graph-node-failed"
        x={-width / 2 + 10}
        y={NODE_HEIGHT / 2 - 6}
        width={(width - 20) * (node.failure.rate ?? 0)}
        height={3}
        rx={1.5}
      />
      <text className="graph-node-name" textAnchor="middle" y={-4}>
        {visibleText(titleOf(node))}
      </text>{' '}
      <text className="graph-node-words" textAnchor="middle" y={12}>
        {words}
        {hasLoop ? ' ↻' : ''}
      </text>
      {node.isWrite && (
        <text className="graph-node-write" textAnchor="end" x={width / 2 - 7} y={-NODE_HEIGHT / 2 + 12}>
          write
        </text>
      )}
      <title>{nodeTitle(node, graph)}</title>
    </g>
  )
}

function nodeClass(
  { kind, state, isWrite }: GraphNode,
  { isPicked, isFollowed }: { isPicked: boolean; isFollowed: boolean },
): string {
  const names = [
    'graph-node',
    `is-${kind}`,
    state !== undefined && `is-${state}`,
    isPicked && 'is-picked',
    isWrite && 'is-write',
    isFollowed && 'is-followed',
  ]
  return names.filter(Boolean).join(' ')
}

function nodeTitle(node: GraphNode, graph: DecisionGraph): string {
  const more = failsMore(node.failure, graph.failure) ? `, ${describeLift(node.failure, graph) ?? ''}` : ''
  return `${visibleText(node.name)}: ${describeFailures(node.failure)}${more}`
}
