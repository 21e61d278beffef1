import {
  type DecisionGraph,
  type EndState,
  type GraphEdge,
  type GraphNode,
  type GraphVariant,
  wilson,
  type GraphFailure,
  type StepKind,
} from '@playhead/model'
import type { GraphQuery } from './decision-graph.ts'

type Tally = { sessions: number; failed: number; passed: number; cost: number; priced: number }

const states: readonly EndState[] = ['success', 'fail', 'indeterminate', 'running', 'lost']

/** Builds the graph from the store's counts: one row for each distinct path, however many sessions took it. */
export function buildGraph(
  rows: readonly VariantRow[],
  steps: readonly StepFigures[],
  query: Pick<GraphQuery, 'sessions' | 'variants'>,
): DecisionGraph {
  const [nodes, edges] = [new Map<string, Tally>(), new Map<string, Tally>()]
  const all = newTally()
  for (const row of rows) {
    add(all, row)
    for (const id of new Set(['start', ...row.path])) add(tallyOf(nodes, id), row)
    for (const edge of new Set(edgesOf(row.path))) add(tallyOf(edges, edge), row)
    for (const state of states) addEnd(row, state, { nodes, edges })
  }
  const variants = groupVariants(rows)
  const figures = new Map(steps.map((step) => [step.key, step]))
  return {
    sessions: all.sessions,
    failure: failureOf(all.failed, all.passed),
    isPartial: all.sessions >= query.sessions,
    nodes: [...nodes].map(([id, tally]) => toNode(id, tally, figures.get(id))),
    edges: [...edges].map(([key, tally]) => toEdge(key, tally)),
    variants: variants.slice(0, query.variants),
    variantCount: variants.length,
  }
}

function newTally(): Tally {
  return { sessions: 0, failed: 0, passed: 0, cost: 0, priced: 0 }
}

function tallyOf(tallies: Map<string, Tally>, key: string): Tally {
  const tally = tallies.get(key) ?? newTally()
  tallies.set(key, tally)
  return tally
}

function add(tally: Tally, { sessions, fail, success, total_cost, priced }: VariantRow): void {
  tally.sessions += sessions
  tally.failed += fail
  tally.passed += success
  tally.cost += total_cost ?? 0
  tally.priced += priced
}

/** As JSON: a name may contain any character, so none can separate two of them. */
function edgesOf(path: readonly string[]): string[] {
  return path.map((id, index) => JSON.stringify([index === 0 ? 'start' : path[index - 1], id]))
}

/** Adds an end node for each state that sessions on this path ended in. */
function addEnd(
  row: VariantRow,
  state: EndState,
  { nodes, edges }: { nodes: Map<string, Tally>; edges: Map<string, Tally> },
): void {
  const sessions = row[state]
  if (sessions === 0) return
  const share = sessions / row.sessions
  const part: VariantRow = {
    ...row,
    sessions,
    fail: state === 'fail' ? sessions : 0,
    success: state === 'success' ? sessions : 0,
    total_cost: row.total_cost === null ? null : row.total_cost * share,
    priced: row.priced * share,
  }
  const end = `end ${state}`
  add(tallyOf(nodes, end), part)
  add(tallyOf(edges, JSON.stringify([row.path.at(-1) ?? 'start', end])), part)
}

function toNode(id: string, tally: Tally, figures: StepFigures | undefined): GraphNode {
  const isEnd = id.startsWith('end ')
  return {
    id,
    kind: figures?.kind ?? (isEnd ? 'end' : 'start'),
    name: figures?.name ?? (isEnd ? id.slice('end '.length) : 'start'),
    ...(isEnd && { state: id.slice('end '.length) as EndState }),
    sessions: tally.sessions,
    times: figures?.times ?? tally.sessions,
    errors: figures?.errors ?? 0,
    isWrite: figures?.is_write === 1,
    p90Ms: figures?.p90_ms ?? null,
    cost: averageCost(tally),
    failure: failureOf(tally.failed, tally.passed),
  }
}

function toEdge(key: string, tally: Tally): GraphEdge {
  const [from, to] = JSON.parse(key) as [string, string]
  return {
    from,
    to,
    sessions: tally.sessions,
    cost: averageCost(tally),
    failure: failureOf(tally.failed, tally.passed),
  }
}

function averageCost({ cost, priced }: Tally): number | null {
  return priced === 0 ? null : cost / priced
}

/** Paths that differ only in how often they repeat a loop count as one variant. */
function groupVariants(rows: readonly VariantRow[]): GraphVariant[] {
  const groups = new Map<string, { path: string[]; rows: VariantRow[] }>()
  for (const row of rows) {
    const path = collapseLoops(row.path)
    const key = JSON.stringify(path)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, { path, rows: [row] })
    else group.rows.push(row)
  }
  return [...groups.values()]
    .map(toVariant)
    .toSorted((one, other) => other.sessions - one.sessions)
    .map((variant, index) => ({ ...variant, id: `#${index + 1}` }))
}

const EXAMPLES = 3

function toVariant({ path, rows }: { path: string[]; rows: VariantRow[] }): GraphVariant {
  const tally = newTally()
  for (const row of rows) add(tally, row)
  return {
    id: '',
    path,
    sessions: tally.sessions,
    failure: failureOf(tally.failed, tally.passed),
    cost: averageCost(tally),
    examples: {
      passed: rows.flatMap((row) => row.passed_examples).slice(0, EXAMPLES),
      failed: rows.flatMap((row) => row.failed_examples).slice(0, EXAMPLES),
      last: rows[0]!.example,
    },
  }
}

/** The store's counts for one path. */
export type VariantRow = Record<EndState, number> & {
  path: string[]
  sessions: number
  total_cost: number | null
  priced: number
  passed_examples: string[]
  failed_examples: string[]
  example: string
}

export type StepFigures = {
  key: string
  kind: StepKind
  name: string
  is_write: number
  times: number
  sessions: number
  errors: number
  p90_ms: number | null
}

/** The failure rate among sessions that ended in success or failure. */
function failureOf(failed: number, passed: number): GraphFailure {
  const ended = failed + passed
  return { failed, ended, rate: ended === 0 ? null : failed / ended, interval: wilson(failed, ended) }
}

const MAX_LOOP_LENGTH = 4

/** Removes repetitions of a loop: a b a b a b c becomes a b c. */
export function collapseLoops(path: readonly string[]): string[] {
  let collapsed = [...path]
  for (let length = 1; length <= MAX_LOOP_LENGTH; length += 1) collapsed = collapseRounds(collapsed, length)
  return collapsed
}

function collapseRounds(path: readonly string[], length: number): string[] {
  const collapsed: string[] = []
  for (const id of path) {
    collapsed.push(id)
    const round = collapsed.slice(-length)
    const before = collapsed.slice(-2 * length, -length)
    if (before.length === length && round.every((step, index) => step === before[index]))
      collapsed.splice(-length)
  }
  return collapsed
}
