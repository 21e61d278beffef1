import type { SessionView } from 'playhead'
import {
  alignSessions,
  describeFirstDivergence,
  type SessionSummary,
  type TestIdentity,
} from '@playhead/model'
import { fetchSession } from '../sessions/fetch-session.ts'
import { isOnlyTheEnd } from './divergence.ts'

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
