import type { Api } from './api.ts'
import { startBenchServer } from './bench-server.ts'
import { withDataDirectory } from './data-directory.ts'
import { fillStore } from './fill-store.ts'
import { describeMachine } from './machine.ts'
import type { Options } from './options.ts'
import { percentile } from './percentile.ts'
import type { Progress } from './progress.ts'
import { createQuestions, type Question } from './questions.ts'
import type { Figure, Report } from './report.ts'
import { takeSample } from './sample.ts'
import { waitForMerges } from './settle.ts'

/** Gives enough different sessions that none is opened twice within what the server remembers. */
const SAMPLED_PAGES = 48
const WARM_UP = 4
const MEASURED = 40

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
        onProgress: (share) => progress.show('looking at what is stored', share),
      })
      return await askAll(server.api, createQuestions(sample, filledAtMs), progress)
    } finally {
      await server.stop()
    }
  })
  return { suite: `query, ${options.spans.toLocaleString('en-US')} spans`, machine, figures }
}

async function askAll(api: Api, questions: readonly Question[], progress: Progress): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const [index, question] of questions.entries()) {
    progress.show(question.what, index / questions.length)
    figures.push(...(await ask(api, question)))
  }
  return figures
}

/** Asks in many forms, one after the other, over a connection that stays open: what one person in front of a page feels. */
async function ask(api: Api, question: Question): Promise<Figure[]> {
  const times: number[] = []
  let found = 0
  for (let index = 0; index < WARM_UP + MEASURED; index++) {
    const startedAtMs = performance.now()
    const answer = await api.get<unknown>(question.path(index))
    if (index < WARM_UP) continue
    times.push(performance.now() - startedAtMs)
    found += question.countOf(answer)
  }
  const note = `${(found / MEASURED).toFixed(0)} found, on average`
  return (
    [
      ['p50', 0.5],
      ['p95', 0.95],
    ] as const
  ).map(([name, share]) => {
    const target = question.targets?.[name]
    return {
      what: `${question.what}, ${name}`,
      figure: percentile(times, share),
      unit: 'ms',
      ...(target !== undefined && { target }),
      ...(name === 'p50' && { note }),
    }
  })
}
