import { Api } from '../harness/api.ts'
import { percentile } from '../harness/percentile.ts'
import { sendQuery } from './send-query.ts'
import type { Measures } from './compare.ts'
import { queryNames, type Query, type Contender, type QueryName } from './contender.ts'
import { QUERY_REPEATS, QUERY_SECONDS } from './parameters.ts'

/** The subjects of the queries. None of the sessions has been opened before. */
export type Subjects = { traceIds: string[]; users: string[]; words: readonly string[] }

const WARM_UP = 4
const MIN_REPEATS = 3

const titles: Record<QueryName, string> = {
  open: 'open a session of 20 steps',
  list: 'list 50',
  listFailed: 'list 50 failed sessions',
  listOfUser: 'list 50 sessions of a user',
  search: 'list 50 sessions with a word in any step',
}

/** Sends one query after the other over one connection, as one person with a page would. */
export async function measureQueries(
  contender: Contender,
  options: { url: string; subjects: Subjects; onProgress: (what: string) => void },
): Promise<Measures> {
  const measures: Measures = {}
  const api = new Api(options.url)
  for (const name of queryNames) {
    const title = titles[name]
    options.onProgress(title)
    const query = contender.queries[name]
    if ('none' in query) {
      for (const part of [', p50', ', p95', ': found', ': response size']) measures[`${title}${part}`] = query
      continue
    }
    const responses = await repeat(api, (index) => query(subjectOf(name, options.subjects, index)))
    const mean = (field: 'count' | 'bytes') =>
      responses.reduce((sum, response) => sum + response[field], 0) / responses.length
    const times = responses.map(({ ms }) => ms)
    measures[`${title}, p50`] = { figure: percentile(times, 0.5), unit: 'ms' }
    measures[`${title}, p95`] = { figure: percentile(times, 0.95), unit: 'ms' }
    measures[`${title}: found`] = { figure: mean('count'), unit: name === 'open' ? 'steps' : 'sessions' }
    measures[`${title}: response size`] = { figure: mean('bytes') / 1_000, unit: 'KB' }
  }
  api.close()
  return measures
}

/** Repeats a query as often as intended, or as often as time allows. */
async function repeat(
  api: Api,
  query: (index: number) => Query,
): Promise<{ ms: number; count: number; bytes: number }[]> {
  const responses: { ms: number; count: number; bytes: number }[] = []
  const endMs = performance.now() + QUERY_SECONDS * 1_000
  for (let index = 0; index < WARM_UP + QUERY_REPEATS; index++) {
    const startedAtMs = performance.now()
    const isLate = startedAtMs > endMs
    if (isLate && responses.length >= MIN_REPEATS) break
    const response = await sendQuery(api, query(index))
    if (isLate || index >= WARM_UP) responses.push({ ms: performance.now() - startedAtMs, ...response })
  }
  return responses
}

function subjectOf(name: QueryName, { traceIds, users, words }: Subjects, index: number): string {
  const subjects = { open: traceIds, listOfUser: users, search: words, list: [''], listFailed: [''] }[name]
  return subjects[index % subjects.length]!
}
