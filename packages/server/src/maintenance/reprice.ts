import type { StepOutline } from '@playhead/model'
import type { Registry } from '../access/registry.ts'
import type { SessionRefresher } from '../sessions/refresh-sessions.ts'
import type { JoinedTraces } from '../sessions/joined-traces.ts'
import { readOutlines } from '../sessions/stored-steps.ts'
import type { Store } from '../store/connect.ts'
import { CURRENT_FIRST, REPRICED_VERSION } from '../store/steps-table.ts'
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
type Change = { step: StepOutline; before: number | undefined; after: number | undefined }

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
      const sessions = [...new Set(changes.map(({ step }) => step.sessionId))]
      await refresher.refresh(project, sessions)
      tally.sessions += await joined.countSessions(project, sessions)
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
    const after = pricer.price(step)?.cost
    tally.note(step, after)
    if (!isSameCost(step.cost, after)) changes.push({ step, before: step.cost, after })
  }
  for (const change of changes) tally.change(change)
  return changes
}

/** Writes a copy of each row with its new cost. The engine copies the payloads; they never pass through this process. */
async function writeCosts(
  { store, registry }: Omit<Stored, 'joined'>,
  project: string,
  changes: readonly Change[],
): Promise<void> {
  await store.client.command({
    query: `INSERT INTO steps SELECT * REPLACE (
          nullIf(transform(step_id, {ids:Array(String)}, {costs:Array(Float64)}, -1.), -1.) AS cost,
          if(isNull(cost), '', 'computed') AS cost_source,
          ${REPRICED_VERSION} AS version,
          0 AS segment)
        FROM (
          SELECT * FROM steps
          WHERE project = {project:String} AND session_id IN {sessions:Array(String)} AND step_id IN {ids:Array(String)}
          ORDER BY session_id, step_id, ${CURRENT_FIRST} LIMIT 1 BY session_id, step_id
        )`,
    query_params: {
      project,
      sessions: [...new Set(changes.map(({ step }) => step.sessionId))],
      ids: changes.map(({ step }) => step.id),
      costs: changes.map(({ after }) => after ?? -1),
      revision: registry.pricerOf(project).revision,
    },
  })
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

  note(step: StepOutline, cost: number | undefined): void {
    const isCall = step.kind === 'llm' || step.kind === 'embedding'
    if (isCall && cost === undefined && step.usage !== undefined) this.#unpriced.add(modelOf(step))
  }

  change({ step, before, after }: Change): void {
    const entry = this.#models.get(modelOf(step)) ?? { steps: 0, before: null, after: null }
    entry.steps += 1
    if (before !== undefined) entry.before = (entry.before ?? 0) + before
    if (after !== undefined) entry.after = (entry.after ?? 0) + after
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
