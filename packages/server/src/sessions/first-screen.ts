import { ownsError } from '@playhead/model'
import type { Store } from '../store/connect.ts'
import { PAYLOAD_SIZE, payloadSize } from '../store/steps-table.ts'
import type { ResolvedSession } from './resolved-sessions.ts'
import { readBeginning, type Beginning } from './short-sessions.ts'
import { readSpanRows, type StoredSpan } from './stored-steps.ts'

/** The payloads that come with a session: about one screen of the replay page. */
const FIRST_SCREEN_STEPS = 60
const FIRST_SCREEN_BYTES = 512 * 1024
/** A step has up to two rows, one from its start and one from its end. */
const FIRST_ROWS = 2 * FIRST_SCREEN_STEPS
const LARGEST = FIRST_SCREEN_BYTES / 16

type ReadStore = Pick<Store, 'client' | 'badRows' | 'engine'>

/** Reads a session of one trace as far as the first screen goes; undefined if that has to be done otherwise. */
export async function readFirstScreen(
  store: ReadStore,
  project: string,
  ids: readonly string[],
): Promise<Beginning | undefined> {
  const [id] = ids
  if (ids.length !== 1 || id === undefined) return undefined
  return readBeginning(store, project, { id, maxRows: FIRST_ROWS, largest: LARGEST })
}

/** Reads the rows that are probably on the first screen: the first rows of the table that are not large. */
export function readFirstRows(
  store: ReadStore,
  project: string,
  ids: readonly string[],
): Promise<StoredSpan[]> {
  return readSpanRows(store, {
    project,
    ids,
    condition: `AND ${PAYLOAD_SIZE} < {largest:UInt32}`,
    order: 'started_at, step_id LIMIT {limit:UInt32}',
    params: { largest: LARGEST, limit: FIRST_ROWS },
  })
}

/** The steps at the top of the page and the first failed one, as far as their payloads fit the budget. */
export function firstScreen(open: ResolvedSession): string[] {
  const failed = open.steps.find(ownsError)
  const candidates = open.steps.slice(0, FIRST_SCREEN_STEPS)
  if (failed !== undefined && !candidates.includes(failed)) candidates.unshift(failed)
  let budget = FIRST_SCREEN_BYTES
  return candidates.flatMap((step) => {
    const size = payloadSize(open.rows.get(step.id)?.version ?? 0)
    if (size > budget) return []
    budget -= size
    return [step.id]
  })
}
