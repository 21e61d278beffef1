import type { Price, StepOutline } from '@playhead/model'
import type { Registry } from '../access/registry.ts'
import type { SessionRefresher } from '../sessions/refresh-sessions.ts'
import type { JoinedTraces } from '../sessions/joined-traces.ts'
import { readOutlines } from '../sessions/stored-steps.ts'
import type { Store } from '../store/connect.ts'
import { CURRENT_FIRST, REPRICED_VERSION } from '../store/steps-table.ts'
import { insertWords } from '../store/words-table.ts'
import { countSessions, sessionBatches } from './session-batches.ts'

/** What repricing changed, by model. `before` and `after` are sums over the steps whose cost changed. */
export type RepriceResult = {
  project: string
  sessions: number
  steps: number
  models: { model: string; steps: number; before: number | null; after: number | null }[]
  /** Models in use without a known price. */
  unpricedModels: string[]
}

export type Progress = { done: number; total: number }

type Stored = { store: Store; registry: Registry; joined: JoinedTraces }
type Change = { step: StepOutline; before: number | undefined; after: Price | null }

const PRICED = "(kind IN ('llm', 'embedding') OR notEmpty(usage))"

/** Recomputes every cost of a project with today's prices. Costs that the sender reported stay. */
export async function repriceProject(
  stored: Stored & { refresher: SessionRefresher },
  project: string,
  onProgress: (progress: Progress) => Promise<void>,
): Promise<RepriceResult> {
  const { store, registry, joined, refresher } = stored
  await registry.advancePriceRevision(project)
  const total = await countSessions(store.client, project, PRICED)
  const tally = new RepriceTally()
  let done = 0
  for await (const ids of sessionBatches(store.client, project, PRICED)) {
    const changes = await findChanges(stored, project, ids, tally)
    if (changes.length > 0) {
      await writeCosts(stored, project, changes)
      await refresher.refresh(project, sessionsOf(changes))
      tally.sessions += await joined.countSessions(project, sessionsOf(changes.filter(isCostChanged)))
    }
    done += ids.length
    await onProgress({ done, total })
  }
  return tally.result(project)
}

async function findChanges(
  { store, registry }: Omit<Stored, 'joined'>,
  project: string,
  ids: readonly string[],
  tally: RepriceTally,
): Promise<Change[]> {
  const { pricer } = registry.pricerOf(project)
  const changes: Change[] = []
  for (const { outline: step } of await readOutlines(store, project, ids)) {
    const after = pricer.price(step)
    tally.note(step, after)
    const change = { step, before: step.cost, after }
    if (isCostChanged(change) || step.costSource !== after?.source) changes.push(change)
  }
  for (const change of changes.filter(isCostChanged)) tally.change(change)
  return changes
}

/** Writes a copy of each row with its new cost. The engine copies the payloads; they never pass through this process. */
async function writeCosts(
  { store, registry }: Omit<Stored, 'joined'>,
  project: string,
  changes: readonly Change[],
): Promise<void> {
  // The copies replace rows by whose segment their words would be built.
  await insertWords(store, {
    condition: `project = {project:String} AND session_id IN {ids:Array(String)} AND ${store.words.missing}`,
    params: { project, ids: sessionsOf(changes) },
  })
  await store.client.command({
    query: `INSERT INTO steps SELECT * REPLACE (
          nullIf(transform(step_id, {ids:Array(String)}, {costs:Array(Float64)}, -1.), -1.) AS cost,
          transform(step_id, {ids:Array(String)}, {sources:Array(String)}, '') AS cost_source,
          ${REPRICED_VERSION} AS version,
          0 AS segment)
        FROM (
          SELECT * FROM steps
          WHERE project = {project:String} AND session_id IN {sessions:Array(String)} AND step_id IN {ids:Array(String)}
          ORDER BY session_id, step_id, ${CURRENT_FIRST} LIMIT 1 BY session_id, step_id
        )`,
    query_params: {
      project,
      sessions: sessionsOf(changes),
      ids: changes.map(({ step }) => step.id),
      costs: changes.map(({ after }) => after?.cost ?? -1),
      sources: changes.map(({ after }) => after?.source ?? ''),
      revision: registry.pricerOf(project).revision,
    },
  })
}

function sessionsOf(changes: readonly Change[]): string[] {
  return [...new Set(changes.map(({ step }) => step.sessionId))]
}

function isCostChanged({ before, after }: Change): boolean {
  return !isSameCost(before, after?.cost)
}

/** Costs are sums of products, so their last bits may differ. */
function isSameCost(left: number | undefined, right: number | undefined): boolean {
  if (left === undefined || right === undefined) return left === right
  return Math.abs(left - right) <= 1e-9 * Math.max(Math.abs(left), Math.abs(right))
}

class RepriceTally {
  sessions = 0
  #steps = 0
  readonly #models = new Map<string, { steps: number; before: number | null; after: number | null }>()
  readonly #unpriced = new Set<string>()

  note(step: StepOutline, price: Price | null): void {
    const isCall = step.kind === 'llm' || step.kind === 'embedding'
    if (isCall && price?.source === 'no-price') this.#unpriced.add(modelOf(step))
  }

  change({ step, before, after }: Change): void {
    const entry = this.#models.get(modelOf(step)) ?? { steps: 0, before: null, after: null }
    entry.steps += 1
    if (before !== undefined) entry.before = (entry.before ?? 0) + before
    if (after?.cost !== undefined) entry.after = (entry.after ?? 0) + after.cost
    this.#models.set(modelOf(step), entry)
    this.#steps += 1
  }

  result(project: string): RepriceResult {
    const models = [...this.#models].map(([model, entry]) => ({ model, ...entry }))
    return {
      project,
      sessions: this.sessions,
      steps: this.#steps,
      models,
      unpricedModels: [...this.#unpriced],
    }
  }
}

function modelOf(step: StepOutline): string {
  return step.model ?? step.requestedModel ?? 'unknown model'
}
