import type { Api } from '../harness/api.ts'
import { startBenchServer } from '../server/bench-server.ts'
import { withDataDirectory } from '../harness/data-directory.ts'
import { fillStore } from '../server/fill-store.ts'
import { describeMachine } from '../harness/machine.ts'
import type { Options } from '../harness/options.ts'
import { percentile } from '../harness/percentile.ts'
import type { Progress } from '../harness/progress.ts'
import { createQueries, type Query } from './queries.ts'
import type { Figure, Report } from '../harness/report.ts'
import { takeSample } from './sample.ts'
import { waitForMerges } from '../server/wait-for-store.ts'

/** Enough different sessions that none is opened twice while the server has it in its cache. */
const SAMPLED_PAGES = 48
const WARM_UP_REQUESTS = 4
const MEASURED_REQUESTS = 40

export async function runQuerySuite(options: Options, progress: Progress): Promise<Report> {
  const machine = describeMachine()
  const figures = await withDataDirectory(options.data, async (directory) => {
    const filledAtMs = await fillStore(directory, options.spans, progress)
    const server = await startBenchServer(directory)
    try {
      await waitForMerges(server.api, progress)
      const sample = await takeSample(server.api, {
        pages: SAMPLED_PAGES,
        filledAtMs,
        onProgress: (share) => progress.show('sampling the store', share),
      })
      return await measureAll(server.api, createQueries(sample, filledAtMs), progress)
    } finally {
      await server.stop()
    }
  })
  return { suite: `query, ${options.spans.toLocaleString('en-US')} spans`, machine, figures }
}

async function measureAll(api: Api, queries: readonly Query[], progress: Progress): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const [index, query] of queries.entries()) {
    progress.show(query.what, index / queries.length)
    figures.push(...(await measure(api, query)))
  }
  return figures
}

/** Sends variants of a query one after the other over one connection, as one person with a page would. */
async function measure(api: Api, query: Query): Promise<Figure[]> {
  const times: number[] = []
  let found = 0
  for (let index = 0; index < WARM_UP_REQUESTS + MEASURED_REQUESTS; index++) {
    const startedAtMs = performance.now()
    const body = await api.get<unknown>(query.path(index))
    if (index < WARM_UP_REQUESTS) continue
    times.push(performance.now() - startedAtMs)
    found += query.countOf(body)
  }
  const note = `${(found / MEASURED_REQUESTS).toFixed(0)} found on average`
  return (
    [
      ['p50', 0.5],
      ['p95', 0.95],
    ] as const
  ).map(([name, share]) => {
    const target = query.targets?.[name]
    return {
      what: `${query.what}, ${name}`,
      figure: percentile(times, share),
      unit: 'ms',
      ...(target !== undefined && { target }),
      ...(name === 'p50' && { note }),
    }
  })
}
