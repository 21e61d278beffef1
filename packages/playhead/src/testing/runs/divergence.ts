import {
  alignSessions,
  describeFirstDivergence,
  type Alignment,
  type SessionSummary,
  type TestIdentity,
} from '@playhead/model'
import type { SessionView } from 'playhead'
import { fetchSession } from '../sessions/fetch-session.ts'
import type { FinishedRun } from './judge-runs.ts'

/** Says of the first failed run of each input where it parted from one that passed: of the same input, else of any. */
export function noteDivergences(runs: readonly FinishedRun[], views: ReadonlyMap<string, SessionView>): void {
  for (const ofVariant of Map.groupBy(runs, ({ variant }) => variant).values()) {
    const failed = ofVariant.find(({ isPassed }) => !isPassed)
    const passed = ofVariant.find(isPassing) ?? runs.find(isPassing)
    const [before, now] = [views.get(passed?.sessionId ?? ''), views.get(failed?.sessionId ?? '')]
    if (failed === undefined || before === undefined || now === undefined) continue
    const alignment = alignSessions(before.toJSON(), now.toJSON())
    const divergence = isOnlyTheEnd(alignment) ? undefined : describeFirstDivergence(alignment)
    if (divergence !== undefined) failed.divergence = divergence
  }
}

function isPassing({ isPassed }: FinishedRun): boolean {
  return isPassed
}

/** That the session of a failed test failed is no news. */
export function isOnlyTheEnd({ divergence, rows }: Alignment): boolean {
  return divergence?.row === undefined || (rows[divergence.row]?.depth === 0 && divergence.kind === 'result')
}

/** A failed test is not kept waiting for longer. */
const PATIENCE_MS = 3000

/**
 * Where a failed test parted from its last run that passed, when there is a server that knows one: "first divergence from
 * the last passing run: step 3 fetch_customer_data, argument customer_id null instead of "c_42"". Never throws.
 */
export async function describeFromLastPass(
  test: TestIdentity & { variant?: string },
  session: SessionView,
): Promise<string | undefined> {
  const endpoint = process.env.PLAYHEAD_ENDPOINT
  if (endpoint === undefined || !/^https?:/.test(endpoint)) return undefined
  const late = new Promise<undefined>((resolve) => {
    setTimeout(() => resolve(undefined), PATIENCE_MS).unref()
  })
  return Promise.race([late, compareWithLastPass(endpoint.replace(/\/+$/, ''), test, session)]).catch(
    () => undefined,
  )
}

async function compareWithLastPass(
  endpoint: string,
  test: TestIdentity & { variant?: string },
  session: SessionView,
): Promise<string | undefined> {
  const passed = await findLastPass(endpoint, test)
  if (passed === undefined) return undefined
  const alignment = alignSessions(await fetchSession(passed, { endpoint }), session.toJSON())
  const divergence = isOnlyTheEnd(alignment) ? undefined : describeFirstDivergence(alignment)
  return divergence === undefined ? undefined : `first divergence from the last passing run: ${divergence}`
}

async function findLastPass(
  endpoint: string,
  { file, suite, name, variant }: TestIdentity & { variant?: string },
): Promise<string | undefined> {
  const query = new URLSearchParams({
    status: 'success',
    limit: '1',
    test: suite === undefined ? name : `${suite} > ${name}`,
    ...(file !== undefined && { testFile: file }),
    ...(variant !== undefined && { variant }),
  })
  const apiKey = process.env.PLAYHEAD_API_KEY || process.env.AGENTOPS_API_KEY
  const response = await fetch(`${endpoint}/api/sessions?${query.toString()}`, {
    headers: apiKey ? { authorization: `Bearer ${apiKey}` } : {},
    signal: AbortSignal.timeout(PATIENCE_MS),
  })
  if (!response.ok) return undefined
  return ((await response.json()) as { sessions: SessionSummary[] }).sessions[0]?.id
}
