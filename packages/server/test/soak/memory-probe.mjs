// Preloaded into a server: records the heap size after every full garbage collection.
import { appendFileSync } from 'node:fs'
import { constants, PerformanceObserver } from 'node:perf_hooks'

const file = process.env.PLAYHEAD_TEST_MEMORY
const isServer = process.argv[1]?.endsWith('/src/main.ts')

if (file !== undefined && isServer)
  new PerformanceObserver((list) => {
    if (!list.getEntries().some(({ detail }) => detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR)) return
    const { heapUsed } = process.memoryUsage()
    const line = { pid: process.pid, atMs: process.uptime() * 1_000, mb: heapUsed / 1024 ** 2 }
    appendFileSync(file, `${JSON.stringify(line)}\n`)
  }).observe({ entryTypes: ['gc'] })
