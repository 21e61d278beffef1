import { useEffect, useState } from 'react'
import type { Layout, LayoutInput } from './layout-graph.ts'

const DEADLINE_MS = 2000

export type LayoutState = { layout: Layout; input: LayoutInput; isPlain: boolean }

/** Computes the layout in a worker, with a plain grid as the fallback after the deadline. The previous layout stays until then. */
export function useLayout(input: LayoutInput): LayoutState | undefined {
  const [state, setState] = useState<LayoutState>()
  useEffect(() => {
    if (input.nodes.length === 0) return
    const worker = new Worker(new URL('layout-worker.ts', import.meta.url), { type: 'module' })
    const finish = (layout: Layout, isPlain: boolean) => {
      clearTimeout(timer)
      worker.terminate()
      setState({ layout, input, isPlain })
    }
    const timer = setTimeout(() => finish(plainLayout(input), true), DEADLINE_MS)
    worker.addEventListener('message', ({ data }: MessageEvent<{ layout: Layout }>) =>
      finish(data.layout, false),
    )
    worker.addEventListener('error', () => finish(plainLayout(input), true))
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- workers have no origin to name
    worker.postMessage({ input })
    return () => {
      clearTimeout(timer)
      worker.terminate()
    }
  }, [input])
  return input.nodes.length === 0 ? undefined : state
}

const COLUMNS = 4
const GAP = 40

/** A grid of nodes with straight edges, for graphs that take too long to lay out. */
function plainLayout({ nodes, edges }: LayoutInput): Layout {
  const width = Math.max(0, ...nodes.map((node) => node.width)) + GAP
  const height = Math.max(0, ...nodes.map((node) => node.height)) + GAP
  const places = Object.fromEntries(
    nodes.map(({ id }, index) => [
      id,
      { x: ((index % COLUMNS) + 0.5) * width, y: (Math.floor(index / COLUMNS) + 0.5) * height },
    ]),
  )
  return {
    width: COLUMNS * width,
    height: Math.ceil(nodes.length / COLUMNS) * height,
    nodes: places,
    edges: edges
      .filter(({ from, to }) => from !== to)
      .map(({ from, to }) => ({ from, to, points: [places[from]!, places[to]!] })),
  }
}
