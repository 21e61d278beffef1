import { expect } from 'vitest'
import type { SessionSummary } from '@playhead/model'
import type { SpawnedServer } from './spawned-server.ts'
import type { SentSession, Traffic } from './traffic.ts'

/** Compares everything that was acknowledged with what is stored. */
export async function expectEverythingStored(server: SpawnedServer, traffic: Traffic): Promise<void> {
  expect(traffic.unexpected).toEqual([])
  const certain = traffic.sessions.filter((session) => session.isCertain)
  console.log(
    `${traffic.sessions.length} sessions (${traffic.sessions.length - certain.length} given up), ` +
      `${traffic.acknowledgedRequests} requests acknowledged, ${traffic.failedRequests} failed`,
  )
  await expect.poll(() => server.filesInFlight()).toEqual([])
  const listed = new Map<string, SessionSummary[]>()
  for (const summary of await server.allSessions())
    listed.set(summary.id, [...(listed.get(summary.id) ?? []), summary])

  const problems: string[] = []
  const queue = [...traffic.sessions]
  const check = async () => {
    for (let session = queue.pop(); session !== undefined; session = queue.pop())
      problems.push(...(await findProblems(server, session, listed.get(session.id) ?? [])))
  }
  await Promise.all(Array.from({ length: 6 }, check))
  expect(problems).toEqual([])
  const sent = new Set(traffic.sessions.map((session) => session.id))
  expect([...listed.keys()].filter((id) => !sent.has(id))).toEqual([])

  expect(await server.isReady()).toBe(true)
}

/** Describes what is missing, duplicated or wrong in a session. */
async function findProblems(
  server: SpawnedServer,
  sent: SentSession,
  listed: SessionSummary[],
): Promise<string[]> {
  const acknowledged = [...sent.spans.values()].filter((span) => span.isAcknowledged)
  if (acknowledged.length === 0 && listed.length === 0) return []
  if (listed.length !== 1) return [`${sent.id} is in the list ${listed.length} times`]
  const { session, steps } = await server.session(sent.id)
  const problems: string[] = []
  const stored = new Map(steps.map((step) => [step.id, step]))
  if (stored.size !== steps.length) problems.push(`${sent.id} has a step twice`)
  for (const span of acknowledged) {
    const step = stored.get(span.id)
    if (step === undefined) problems.push(`${sent.id} lacks step ${span.id}`)
    else if (span.isEndAcknowledged && step.endedAt === null) problems.push(`${span.id} lacks its end`)
  }
  // The id of a call is also in what is said of its response.
  const call = acknowledged.find((span) => span.usage !== undefined)
  if (call !== undefined && !(await isFound(server, sent.id, call.id)))
    problems.push(`${sent.id} is not found by the text ${call.id}`)
  const usage = { input: 0, output: 0 }
  let calls = 0
  for (const step of steps) {
    const span = sent.spans.get(step.id)
    if (span === undefined) problems.push(`${sent.id} has step ${step.id}, which was never sent`)
    if (span?.usage === undefined) continue
    calls += 1
    if (step.endedAt === null) continue
    usage.input += span.usage.input
    usage.output += span.usage.output
  }
  const counted = { stepCount: steps.length, llmCallCount: calls, ...usage }
  for (const [where, summary] of [['session', session] as const, ['list', listed[0]!] as const]) {
    const shown = {
      stepCount: summary.stepCount,
      llmCallCount: summary.llmCallCount,
      input: summary.usage.input ?? 0,
      output: summary.usage.output ?? 0,
    }
    if (JSON.stringify(shown) !== JSON.stringify(counted))
      problems.push(`${where} of ${sent.id}: ${JSON.stringify(shown)}, not ${JSON.stringify(counted)}`)
  }
  return problems
}

async function isFound(server: SpawnedServer, id: string, text: string): Promise<boolean> {
  const { sessions } = (await server.read(`/api/sessions?text=${text}`)) as { sessions: SessionSummary[] }
  return sessions.some((session) => session.id === id)
}
