import { useEffect, useState } from 'react'
import type { Layout, LayoutInput } from './layout-graph.ts'
import { plainLayout } from './plain-layout.ts'

const DEADLINE_MS = 2000

export type LayoutState = { layout: Layout; input: LayoutInput; isPlain: boolean }

/** Lays a graph out beside the page; one that takes too long is shown plainly. The last layout stays until the next is there. */
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
