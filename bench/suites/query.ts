import { startBenchServer, type BenchServer } from '../server/bench-server.ts'
import { withDataDirectory } from '../harness/data-directory.ts'
import { fillStore } from '../server/fill-store.ts'
import { describeMachine } from '../harness/machine.ts'
import type { Options } from '../harness/options.ts'
import { percentile } from '../harness/percentile.ts'
import type { Progress } from '../harness/progress.ts'
import { createQueries, type Query } from './queries.ts'
import type { Figure, Report } from '../harness/report.ts'
import { takeSample } from './sample.ts'
import { UsageMeter } from '../server/usage-meter.ts'
import { waitForMerges, waitForRest, waitForWords } from '../server/wait-for-store.ts'

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
      await waitForWords(server.api, progress)
      await waitForRest(server, progress)
      const sample = await takeSample(server.api, {
        pages: SAMPLED_PAGES,
        filledAtMs,
        onProgress: (share) => progress.show('sampling the store', share),
      })
      const queries = createQueries(sample, { filledAtMs, spans: options.spans })
      return await measureAll(server, queries, progress)
    } finally {
      await server.stop()
    }
  })
  return { suite: `query, ${options.spans.toLocaleString('en-US')} spans`, machine, figures }
}

async function measureAll(
  server: BenchServer,
  queries: readonly Query[],
  progress: Progress,
): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const [index, query] of queries.entries()) {
    progress.show(query.what, index / queries.length)
    figures.push(...(await measure(server, query)))
  }
  return figures
}

/** Sends variants of a query one after the other over one connection, as one person with a page would. */
async function measure(server: BenchServer, query: Query): Promise<Figure[]> {
  const times: number[] = []
  let found = 0
  let meter: UsageMeter | undefined
  for (let index = 0; index < WARM_UP_REQUESTS + MEASURED_REQUESTS; index++) {
    if (index === WARM_UP_REQUESTS) meter = new UsageMeter(server)
    const startedAtMs = performance.now()
    const body = await server.api.get<unknown>(query.path(index))
    if (index < WARM_UP_REQUESTS) continue
    times.push(performance.now() - startedAtMs)
    found += query.countOf(body)
  }
  const { cpu } = meter!.stop()
  const cpuMs = (seconds: number) => ((seconds * 1_000) / MEASURED_REQUESTS).toFixed(1)
  const note = `${(found / MEASURED_REQUESTS).toFixed(0)} found on average; CPU: server ${cpuMs(cpu.server)}, engine ${cpuMs(cpu.engine)} ms`
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
