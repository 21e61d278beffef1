import { setTimeout as pause } from 'node:timers/promises'
import type { Issue } from '../../../src/api/schemas/findings.ts'
import { hex, tracesPayload, type SpanOptions } from '../../otlp.ts'
import { seededRandom } from '../../seeded-random.ts'
import { healthy, shapes, type Shape } from './shapes.ts'

/** A server, or two of them on one cluster. */
export type Node = { read(path: string): Promise<unknown>; postTraces(payload: unknown): Promise<void> } & {
  patch(path: string, body: object): Promise<void>
}

/** What was sent: for each shape, the sessions by start time and version. */
export type Planted = Map<Shape, { id: string; startMs: number; version: string }[]>

export type Campaign = {
  nodes: readonly Node[]
  random: () => number
  planted: Planted
  report: (line: string) => void
}

export function startCampaign(
  nodes: readonly Node[],
  { seed, report }: { seed: number; report: (line: string) => void },
): Campaign {
  return { nodes, random: seededRandom(seed), planted: new Map(), report }
}

const DAY_MS = 86_400_000
const SESSIONS_IN_REQUEST = 20
const HEALTHY_SHARE = 0.2
/** Versions follow each other in time. */
const RELEASED_DAYS_AGO = 6

/** Sends sessions of all shapes and healthy ones, in random order, to all nodes by turns. */
export async function sendSessions(campaign: Campaign, count: number): Promise<void> {
  const { random } = campaign
  const nowMs = Date.now()
  const start = nowMs - 12 * DAY_MS
  const sent = Array.from({ length: count }, (_, index) => {
    const isHealthy = index >= shapes.length && random() < HEALTHY_SHARE
    const shape = isHealthy ? undefined : shapes[index % shapes.length]!
    const startMs = Math.floor(start + random() * (11.9 * DAY_MS))
    const version = startMs < nowMs - RELEASED_DAYS_AGO * DAY_MS ? '1.0.0' : '2.0.0'
    return plant(campaign, shape, { startMs, version })
  })
  // Somebody passed before anybody is compared with it.
  const passed = plant(campaign, 'passing', { startMs: start, version: '1.0.0' })
  await send(campaign, [passed])
  await send(campaign, sent)
}

type Sent = { spans: SpanOptions[]; version: string }

/** Creates a session, and notes what it should be counted as. */
function plant(
  { random, planted }: Pick<Campaign, 'random' | 'planted'>,
  shape: Shape | 'passing' | undefined,
  { startMs, version }: { startMs: number; version: string },
): Sent {
  const session = { traceId: hex(16), startMs, userId: `u${Math.floor(random() * 500)}` }
  if (shape === undefined) return { spans: healthy({ random }, session), version }
  if (shape === 'passing') return { spans: healthy({ random: () => 0 }, session), version }
  const known = planted.get(shape) ?? []
  planted.set(shape, [...known, { id: session.traceId, startMs, version }])
  return { spans: shape.make({ random }, session), version }
}

async function send({ nodes }: Campaign, sessions: readonly Sent[]): Promise<void> {
  const requests: Sent[][] = []
  for (const group of Map.groupBy(sessions, ({ version }) => version).values())
    for (let index = 0; index < group.length; index += SESSIONS_IN_REQUEST)
      requests.push(group.slice(index, index + SESSIONS_IN_REQUEST))
  const work = async (node: Node) => {
    for (let request = requests.pop(); request !== undefined; request = requests.pop()) {
      const spans = request.flatMap((one) => one.spans)
      const resource = { 'service.name': 'planted', 'service.version': request[0]!.version }
      await node.postTraces(tracesPayload(spans, resource))
    }
  }
  await Promise.all([...nodes, ...nodes].map(work))
}

/** Sends one more session of a shape. */
export async function sendOne(campaign: Campaign, shape: Shape, version: string): Promise<void> {
  await send(campaign, [plant(campaign, shape, { startMs: Date.now() - 60_000, version })])
}

export async function readIssues(node: Node): Promise<Issue[]> {
  return ((await node.read('/api/issues')) as { issues: Issue[] }).issues
}

const POLL_MS = 1_000
const STUCK_MS = 300_000

/** Waits until every failed session is counted, on the last node. Says how far it is when nothing happens any more. */
export async function waitUntilCounted({ nodes, planted, report }: Campaign): Promise<Issue[]> {
  const expected = [...planted.values()].reduce((sum, { length }) => sum + length, 0)
  let [counted, changedMs, printedMs] = [-1, performance.now(), performance.now()]
  for (;;) {
    const issues = await readIssues(nodes.at(-1)!)
    const now = issues.reduce((sum, { sessions }) => sum + sessions, 0)
    if (now >= expected) return issues
    if (now !== counted) [counted, changedMs] = [now, performance.now()]
    if (performance.now() - changedMs > STUCK_MS) return issues
    if (performance.now() - printedMs > 20_000) {
      report(`  ${counted} of ${expected} failed sessions are counted`)
      printedMs = performance.now()
    }
    await pause(POLL_MS)
  }
}

/** What is not as it was planted, in sentences. */
export async function compareIssues(
  { nodes, planted }: Campaign,
  issues: readonly Issue[],
): Promise<string[]> {
  const problems: string[] = []
  const issueOf = new Map<string, Issue>()
  for (const issue of issues)
    for (const id of await readSessionIds(nodes.at(-1)!, issue)) issueOf.set(id, issue)
  const owners = new Map<Issue, Shape>()
  for (const [shape, sessions] of planted) {
    const counts = Map.groupBy(sessions, ({ id }) => issueOf.get(id))
    const main = issueOf.get(sessions[0]!.id)
    if (counts.size !== 1 || main === undefined) {
      const parts = [...counts].map(([issue, some]) => `${some.length} × ${issue?.title ?? 'none'}`)
      problems.push(`"${shape.name}" is no issue of its own: ${parts.join('; ')}`)
      continue
    }
    const other = owners.get(main)
    if (other !== undefined) problems.push(`"${shape.name}" and "${other.name}" are one issue`)
    owners.set(main, shape)
    problems.push(...compareIssue(shape, main, sessions))
  }
  for (const issue of issues)
    if (!owners.has(issue)) problems.push(`nobody planted "${issue.title}" (${issue.sessions})`)
  return problems
}

function compareIssue(
  shape: Shape,
  issue: Issue,
  sessions: readonly { startMs: number; version: string }[],
): string[] {
  const starts = sessions.map(({ startMs }) => startMs)
  const expected = {
    sessions: sessions.length,
    firstSeenAt: new Date(starts.reduce((one, other) => Math.min(one, other))).toISOString(),
    lastSeenAt: new Date(starts.reduce((one, other) => Math.max(one, other))).toISOString(),
    versions: [...new Set(sessions.map(({ version }) => version))].toSorted().join(', '),
  }
  const found = { ...issue, versions: issue.versions.toSorted().join(', ') }
  return (Object.keys(expected) as (keyof typeof expected)[]).flatMap((name) =>
    found[name] === expected[name]
      ? []
      : [`"${shape.name}": ${name} is ${found[name]}, not ${expected[name]}`],
  )
}

async function readSessionIds(node: Node, { id }: Issue): Promise<string[]> {
  const ids: string[] = []
  for (let cursor = ''; ;) {
    const page = (await node.read(`/api/sessions?issue=${id}&limit=1000${cursor}`)) as {
      sessions: { id: string }[]
      nextCursor?: string
    }
    ids.push(...page.sessions.map((session) => session.id))
    if (page.nextCursor === undefined) return ids
    cursor = `&cursor=${page.nextCursor}`
  }
}

/** The issue that a shape became. */
export async function findIssue({ nodes, planted }: Campaign, shape: Shape): Promise<Issue> {
  for (const issue of await readIssues(nodes.at(-1)!)) {
    const page = (await nodes[0]!.read(`/api/sessions?issue=${issue.id}&limit=1`)) as {
      sessions: { id: string }[]
    }
    if (planted.get(shape)!.some(({ id }) => id === page.sessions[0]?.id)) return issue
  }
  throw new Error(`"${shape.name}" is no issue.`)
}

/** Waits for the state of an issue; returns the last one seen. */
export async function waitForState(
  campaign: Campaign,
  id: string,
  wanted: { state: string; sessions: number },
) {
  const deadline = performance.now() + STUCK_MS
  for (;;) {
    const { state, sessions } = (await campaign.nodes.at(-1)!.read(`/api/issues/${id}`)) as Issue
    if ((state === wanted.state && sessions === wanted.sessions) || performance.now() > deadline)
      return { state, sessions }
    await pause(POLL_MS / 4)
  }
}
