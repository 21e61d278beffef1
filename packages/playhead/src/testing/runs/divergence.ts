import {
  alignSessions,
  describeFirstDivergence,
  testTitle,
  type Session,
  type SessionSummary,
  type TestIdentity,
} from '@playhead/model'
import type { SessionView } from 'playhead'
import { fetchJson, fetchSession } from '../sessions/load-session.ts'
import type { FinishedRun } from './judge-runs.ts'

/** Sets `divergence` on the first failed run of each input, compared with a passing run of the same or any input. */
export function addDivergences(runs: readonly FinishedRun[], views: ReadonlyMap<string, SessionView>): void {
  for (const ofVariant of Map.groupBy(runs, ({ variant }) => variant).values()) {
    const failed = ofVariant.find(({ isPassed }) => !isPassed)
    const passed = [...ofVariant, ...runs].find(({ isPassed }) => isPassed)
    const [before, now] = [views.get(passed?.sessionId ?? ''), views.get(failed?.sessionId ?? '')]
    if (failed === undefined || before === undefined || now === undefined) continue
    const divergence = describeDivergence(before.toJSON(), now.toJSON())
    if (divergence !== undefined) failed.divergence = divergence
  }
}

/** Ignores a divergence in the session's own result: that a failed test failed is no news. */
export function describeDivergence(passed: Session, failed: Session): string | undefined {
  const alignment = alignSessions(passed, failed)
  const { divergence, rows } = alignment
  const isResultOnly =
    divergence?.row === undefined || (rows[divergence.row]?.depth === 0 && divergence.kind === 'result')
  return isResultOnly ? undefined : describeFirstDivergence(alignment)
}

/** How long a failed test waits for the comparison. */
const TIMEOUT_MS = 3000

/**
 * Describes where a failed test diverged from its last passing run, if the server has one: "first divergence from the
 * last passing run: step 3 fetch_customer_data, argument customer_id null instead of "c_42"". Never throws.
 */
export async function describeDivergenceFromLastPass(
  test: TestIdentity & { variant?: string },
  session: SessionView,
): Promise<string | undefined> {
  const endpoint = process.env.PLAYHEAD_ENDPOINT
  if (endpoint === undefined || !/^https?:/.test(endpoint)) return undefined
  const timeout = new Promise<undefined>((resolve) => {
    setTimeout(() => resolve(undefined), TIMEOUT_MS).unref()
  })
  return Promise.race([timeout, compareWithLastPass(endpoint, test, session)]).catch(() => undefined)
}

async function compareWithLastPass(
  endpoint: string,
  { file, suite, name, variant }: TestIdentity & { variant?: string },
  session: SessionView,
): Promise<string | undefined> {
  const query = new URLSearchParams({
    status: 'success',
    reruns: 'exclude',
    limit: '1',
    test: testTitle({ name, ...(suite !== undefined && { suite }) }),
    ...(file !== undefined && { testFile: file }),
    ...(variant !== undefined && { variant }),
  })
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  const path = `/api/sessions?${query.toString()}`
  const { sessions } = await fetchJson<{ sessions: SessionSummary[] }>(path, { endpoint, signal })
  const [passed] = sessions
  if (passed === undefined) return undefined
  const divergence = describeDivergence(await fetchSession(passed.id, { endpoint }), session.toJSON())
  return divergence === undefined ? undefined : `first divergence from the last passing run: ${divergence}`
}
