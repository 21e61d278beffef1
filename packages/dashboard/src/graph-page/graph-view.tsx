import { useMemo, useRef, type CSSProperties, type KeyboardEvent, type MouseEvent } from 'react'
import {
  describeEndState,
  visibleText,
  type DecisionGraph,
  type GraphEdge,
  type GraphNode,
} from '@playhead/model'
import { useWidth } from '../ui/use-width.ts'
import { edgePath, labelPlace } from './edge-path.ts'
import { writeEdge, type Metric } from './graph-search.ts'
import type { LayoutInput, Point } from './layout-graph.ts'
import { edgeWords, failureWords, liftWords, nodeWords } from './metric-words.ts'
import { useLayout } from './use-layout.ts'
import { failsMore, type VisibleGraph } from './visible-graph.ts'

const NODE_HEIGHT = 46
const NARROWEST = 108
const CHARACTER_WIDTH = 7.1
const SMALL_CHARACTER_WIDTH = 6
const LONGEST_NAME = 30
const SMALLEST_SCALE = 0.55

type GraphViewProps = {
  graph: DecisionGraph
  visible: VisibleGraph
  metric: Metric
  pick: string | undefined
  /** A way whose steps and lines stand out for now. */
  followed: readonly string[] | undefined
  onPick: (pick: string) => void
}

/** The graph, drawn from start to end. Width is sessions; red is the share of them that failed, and it is written too. */
export function GraphView({ graph, visible, metric, pick, followed, onPick }: GraphViewProps) {
  const box = useRef<HTMLDivElement>(null)
  const room = useWidth(box)
  const input = useMemo(() => toInput(visible), [visible])
  const state = useLayout(input)
  if (state === undefined) return <div ref={box} className="graph-canvas" aria-busy="true" />
  const { layout, isPlain } = state
  const isFollowed = followedParts(followed)
  const scale = room === 0 ? 1 : Math.max(SMALLEST_SCALE, Math.min(1, room / layout.width))
  const edges = new Map(visible.edges.map((edge) => [writeEdge(edge.from, edge.to), edge]))
  return (
    <div ref={box} className="graph-canvas">
      {isPlain && <p className="graph-note">The graph is too large to be laid out well: show less detail.</p>}
      <svg
        width={layout.width * scale}
        height={layout.height * scale}
        viewBox={`0 0 ${layout.width} ${layout.height}`}
        role="group"
        aria-label={`Decision graph of ${graph.sessions} sessions`}
      >
        {layout.edges.map(({ from, to, points }) => {
          const edge = edges.get(writeEdge(from, to))
          return (
            edge !== undefined && (
              <EdgeView
                key={writeEdge(from, to)}
                {...{ edge, points, graph, metric, pick, onPick }}
                isFollowed={isFollowed.has(writeEdge(from, to))}
              />
            )
          )
        })}
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
  const words = nodeWords(node, 'count').length * SMALL_CHARACTER_WIDTH
  return Math.max(NARROWEST, Math.round(Math.max(titleOf(node).length * CHARACTER_WIDTH, words)) + 34)
}

function titleOf({ kind, name, state }: GraphNode): string {
  if (kind === 'start') return 'Start'
  if (state !== undefined) return describeEndState(state)
  return name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME - 1)}…` : name
}

type Shared = Pick<GraphViewProps, 'graph' | 'metric' | 'pick' | 'onPick'> & { isFollowed: boolean }

function followedParts(path: readonly string[] | undefined): Set<string> {
  if (path === undefined) return new Set()
  const steps = ['start', ...path]
  return new Set([...steps, ...path.map((id, index) => writeEdge(steps[index]!, id))])
}

type EdgeViewProps = Shared & { edge: GraphEdge; points: Point[] }

function EdgeView({ edge, points, graph, metric, pick, onPick, isFollowed }: EdgeViewProps) {
  const id = writeEdge(edge.from, edge.to)
  const path = edgePath(points, NODE_HEIGHT)
  const label = labelPlace(points)
  const words = edgeWords(edge, metric)
  const isMore = failsMore(edge.failure, graph.failure)
  const width = 1.5 + 7 * Math.sqrt(edge.sessions / Math.max(1, graph.sessions))
  const className = [
    'graph-edge',
    pick === id && 'is-picked',
    isMore && 'is-more',
    isFollowed && 'is-followed',
  ]
  return (
    <g
      className={className.filter(Boolean).join(' ')}
      style={{ '--failed': failedShare(edge) } as CSSProperties}
      {...pickable(id, `${plain(edge.from)} to ${plain(edge.to)}: ${words}`, onPick)}
    >
      <path d={path} className="graph-edge-reach" />
      <path d={path} className="graph-edge-line" style={{ strokeWidth: width }} />
      <g transform={`translate(${label.x} ${label.y})`}>
        <rect
          className="graph-label-box"
          x={-(words.length * 6.2 + 12) / 2}
          y={-9.5}
          width={words.length * 6.2 + 12}
          height={19}
          rx={9.5}
        />
        <text className="graph-label" textAnchor="middle" dominantBaseline="central">
          {words}
        </text>
      </g>
      <title>{`${failureWords(edge.failure)}${isMore ? `, ${liftWords(edge.failure, graph) ?? 'more than usual'}` : ''}`}</title>
    </g>
  )
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
  const words = nodeWords(node, metric)
  return (
    <g
      className={nodeClass(node, { isPicked: pick === node.id, isFollowed })}
      transform={`translate(${place.x} ${place.y})`}
      style={{ '--failed': failedShare(node) } as CSSProperties}
      {...pickable(node.id, `${titleOf(node)} ${words}, ${failureWords(node.failure)}`, onPick)}
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
  const more = failsMore(node.failure, graph.failure) ? `, ${liftWords(node.failure, graph) ?? ''}` : ''
  return `${visibleText(node.name)}: ${failureWords(node.failure)}${more}`
}

function failedShare({ failure }: { failure: { rate: number | null } }): string {
  return `${Math.round((failure.rate ?? 0) * 100)}%`
}

function plain(id: string): string {
  return id.replace(/^(action|llm|agent|retrieval|handoff|guardrail) /, '')
}

function pickable(id: string, label: string, onPick: (pick: string) => void) {
  return {
    role: 'button',
    tabIndex: 0,
    'aria-label': visibleText(label),
    onClick: (event: MouseEvent) => {
      event.stopPropagation()
      onPick(id)
    },
    onKeyDown: (event: KeyboardEvent) => {
      if (event.key !== 'Enter' && event.key !== ' ') return
      event.preventDefault()
      onPick(id)
    },
  }
}
