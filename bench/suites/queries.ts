import { rareWord } from '../corpus/english.ts'
import { DAY_MS, projects, SPREAD_DAYS } from '../corpus/projects.ts'
import type { Sample } from './sample.ts'
import { targets, targetsBySize, type Target } from '../harness/targets.ts'

/** A kind of query. `path` gives a different variant for each index. */
export type Query = {
  what: string
  path: (index: number) => string
  targets?: { p50?: Target; p95?: Target }
  /** The number of items in a response, to check that it is not empty. */
  countOf: (body: unknown) => number
}

export function createQueries(sample: Sample, store: { filledAtMs: number; spans: number }): Query[] {
  return [
    ...sessionQueries(sample, store.spans),
    ...listQueries(sample, store),
    ...statsQueries(store.filledAtMs),
    ...textQueries(sample, store.spans),
  ]
}

function sessionQueries({ unopened, opened }: Sample, spans: number): Query[] {
  return [
    {
      what: 'open a session of 20 steps',
      path: (index) => {
        const { id, project } = cycle(unopened, index)
        return `/api/sessions/${id}?project=${project}`
      },
      targets: { p50: targetsBySize.openSessionP50(spans), p95: targets.openSessionP95 },
      countOf: lengthOf('steps'),
    },
    {
      what: 'one step with its payload',
      path: (index) => {
        const { id, stepIds, project } = cycle(opened, index)
        return `/api/sessions/${id}/steps/${cycle(stepIds, index)}?project=${project}`
      },
      countOf: () => 1,
    },
    {
      what: 'find a session by 8 digits of its id',
      path: (index) => {
        const { id, project } = cycle(unopened, index + unopened.length / 2)
        return `/api/sessions/s_${id.slice(0, 8)}?project=${project}&payloads=none`
      },
      countOf: lengthOf('steps'),
    },
  ]
}

/** Values that occur in the corpus, common and less common ones. */
const filterValues = {
  status: ['fail', 'success'],
  tag: ['refund', 'canary', 'replayed', 'vip', 'production', 'eu', 'batch', 'beta'],
  model: ['o3', 'gpt-5', 'mistral-large-2411', 'gemini-2.5-pro', 'house-llama-70b', 'gpt-4o'],
  tool: ['get_order', 'check_table', 'send_file', 'list_invoice', 'check_flight', 'delete_ticket'],
  agent: ['billing', 'coder', 'travel-helper', 'planner', 'reviewer-helper', 'support'],
  name: ['refund', 'weekly rep', 'code review', 'flight', 'order status', 'triage'],
} as const

function listQueries(
  { unopened, secondPages }: Sample,
  { filledAtMs, spans }: { filledAtMs: number; spans: number },
): Query[] {
  const byValue = Object.entries(filterValues).map(([field, values]) =>
    list(`by ${field}`, (index) => ({ [field]: cycle(values, Math.floor(index / projects.length)) })),
  )
  return [
    {
      ...list('unfiltered', () => ({})),
      targets: { p50: targetsBySize.listUnfilteredP50(spans), p95: targets.listUnfilteredP95 },
    },
    {
      ...list('second page', () => ({})),
      path: (index) => {
        const { project, cursor } = cycle(secondPages, index)
        return `/api/sessions?project=${project}&limit=50&cursor=${cursor}`
      },
    },
    ...byValue,
    list('by user', (index) => ({ user: cycle(unopened, index * 3).user })),
    list('by cost', (index) => ({ cost: `>${0.2 + index / 100}` })),
    list('by duration', (index) => ({ duration: `>${40 + index}s` })),
    list('by time range', (index) => {
      const toMs = filledAtMs - (1 + (index % 27)) * DAY_MS - index * 60_000
      return { from: new Date(toMs - DAY_MS / 2).toISOString(), to: new Date(toMs).toISOString() }
    }),
  ]
}

function statsQueries(filledAtMs: number): Query[] {
  const stats = (what: string, query: Record<string, string>): Query => ({
    what: `stats ${what}, ${SPREAD_DAYS} days`,
    path: (index) => {
      // A different start each time, because the engine caches which ranges a condition did not match.
      const from = new Date(filledAtMs - SPREAD_DAYS * DAY_MS + index * 61_000).toISOString()
      return withQuery('/api/stats', { project: projects[0], from, ...query })
    },
    countOf: lengthOf(query.interval === undefined ? 'groups' : 'buckets'),
  })
  return [
    { ...stats('by day', { interval: 'day' }), targets: { p95: targets.dailyStatsP95 } },
    ...['model', 'tool', 'error', 'tag'].map((group) => stats(`by ${group}`, { groupBy: group })),
  ]
}

export const commonWords = [
  'customer',
  'invoice',
  'warehouse',
  'deadline',
  'passenger',
  'password',
  'experiment',
  'coupon',
  'formula',
  'luggage',
] as const

function textQueries({ rareWords }: Sample, spans: number): Query[] {
  const search = (what: string, text: (index: number) => string): Query => ({
    ...list('', (index) => ({ text: text(index) })),
    what: `text search, ${what}`,
    targets: { p95: targetsBySize.textSearchP95(spans) },
  })
  return [
    search('a common word', (index) => cycle(commonWords, Math.floor(index / projects.length))),
    {
      ...search('a rare word', () => ''),
      path: (index) => {
        const { project, word } = cycle(rareWords, index)
        return `/api/sessions?project=${project}&limit=50&text=${word}`
      },
    },
    search('a missing word', (index) => `${rareWord(index * 7_919)}qqx`),
    search(
      'two words',
      (index) => `${cycle(commonWords, index)} ${cycle(commonWords, 3 * index + 1 + Math.floor(index / 10))}`,
    ),
  ]
}

/** A first page of sessions, in each project in turn. */
function list(what: string, filter: (index: number) => Record<string, string>): Query {
  return {
    what: `list 50, ${what}`,
    path: (index) =>
      withQuery('/api/sessions', { project: cycle(projects, index), limit: '50', ...filter(index) }),
    targets: { p95: targets.listFilteredP95 },
    countOf: lengthOf('sessions'),
  }
}

function withQuery(path: string, query: Record<string, string>): string {
  return `${path}?${new URLSearchParams(query).toString()}`
}

function cycle<Item>(items: readonly Item[], index: number): Item {
  return items[Math.floor(index) % items.length]!
}

function lengthOf(field: string): (body: unknown) => number {
  return (body) => (body as Record<string, unknown[]>)[field]!.length
}
