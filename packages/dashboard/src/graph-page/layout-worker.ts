import { layoutGraph, type LayoutInput } from './layout-graph.ts'

self.addEventListener('message', ({ data }: MessageEvent<{ input: LayoutInput }>) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- workers have no origin to name
  self.postMessage({ layout: layoutGraph(data.input) })
})
