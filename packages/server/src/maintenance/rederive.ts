import { NORMALIZER_VERSION } from '@playhead/model'
import type { Registry } from '../access/registry.ts'
import { deriveStep } from '../ingest/derive-step.ts'
import type { Services } from '../process/services.ts'
import { readSpans } from '../sessions/stored-steps.ts'
import { spanFromRow, toStepRow, type StepRow } from '../store/steps-table.ts'
import type { Progress } from './reprice.ts'
import { countSessions, sessionBatches } from './session-batches.ts'

export type RederiveResult = { project: string; sessions: number; steps: number; normalizerVersion: number }

/** Reads stored spans again with the rules of now; those that were read by the same rules are left alone. */
export async function rederiveProject(
  services: Pick<Services, 'store' | 'targets'> & { registry: Registry },
  project: string,
  options: { isForced: boolean; onProgress: (progress: Progress) => Promise<void> },
): Promise<RederiveResult> {
  const { store, targets } = services
  const condition = options.isForced ? '1' : `normalizer_version < ${NORMALIZER_VERSION}`
  if (options.isForced) await services.registry.advancePriceRevision(project)
  const result: RederiveResult = { project, sessions: 0, steps: 0, normalizerVersion: NORMALIZER_VERSION }
  const total = await countSessions(store.client, project, condition)
  for await (const ids of sessionBatches(store.client, project, condition)) {
    const rows = await readAgain(services, project, ids)
    await targets.steps.append(
      rows,
      ids.map((id) => `${project}\0${id}`),
    )
    await targets.steps.drain()
    result.sessions += ids.length
    result.steps += rows.length
    await options.onProgress({ done: result.sessions, total })
  }
  return result
}

async function readAgain(
  { store, registry }: Pick<Services, 'store'> & { registry: Registry },
  project: string,
  ids: readonly string[],
): Promise<StepRow[]> {
  const { pricer, revision } = registry.pricerOf(project)
  const reading = { normalizerVersion: NORMALIZER_VERSION, priceRevision: revision }
  return (await readSpans(store.client, project, { ids })).map((row) => {
    const span = spanFromRow(row)
    return toStepRow(project, span, deriveStep(span, pricer), {
      receivedAtMs: row.received_ms,
      reading,
      resource: row.resource,
    })
  })
}
