import { parseArgs } from 'node:util'
import { startClusterOverHttp, type EngineOverHttp } from '../../engine-over-http.ts'
import { SpawnedServer } from '../../spawned-server.ts'
import {
  compareIssues,
  findIssue,
  sendOne,
  sendSessions,
  startCampaign,
  waitForState,
  waitUntilCounted,
  type Campaign,
  type Node,
} from './campaign.ts'
import { shapes } from './shapes.ts'

const USAGE = `npm run planted-issues -- [--sessions 10000] [--seed 1] [--cluster]

Sends sessions with ${shapes.length} kinds of failures, and healthy ones, to a server of its own, and compares its issues with what was sent:
one issue for each kind, with the right number of sessions, first and last time and versions. Then resolves some in version 2 and
sends them again in versions 1, 2 and 3, ignores one until it was seen twice more, and restarts the server in between.
--cluster: two servers on a cluster of two shards; what one gets is read from the other.`

const { values } = parseArgs({
  options: {
    sessions: { type: 'string', default: '10000' },
    seed: { type: 'string', default: '1' },
    cluster: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) console.log(USAGE)
else process.exitCode = (await main()) ? 0 : 1

async function main(): Promise<boolean> {
  const engine = values.cluster ? await startClusterOverHttp() : undefined
  const servers: SpawnedServer[] = []
  try {
    await startServers(engine, servers)
    const campaign = startCampaign(servers.map(toNode), { seed: Number(values.seed), report: console.log })
    const problems = await plantAndCount(campaign, Number(values.sessions))
    problems.push(...(await decide(campaign, () => restart(servers))))
    console.log(problems.length === 0 ? 'everything is as planted' : `${problems.length} problems`)
    return problems.length === 0
  } finally {
    for (const server of servers) await server.remove()
    await engine?.stop()
  }
}

async function startServers(engine: EngineOverHttp | undefined, servers: SpawnedServer[]): Promise<void> {
  const environment = engine === undefined ? {} : { CLICKHOUSE_URL: engine.url, CLICKHOUSE_CLUSTER: 'two' }
  for (let index = 0; index < (engine === undefined ? 1 : 2); index += 1) {
    const server = await SpawnedServer.create(environment)
    servers.push(server)
    await server.start()
  }
}

async function restart(servers: readonly SpawnedServer[]): Promise<void> {
  for (const server of servers) await server.end('SIGTERM')
  for (const server of servers) await server.start()
}

function toNode(server: SpawnedServer): Node {
  return {
    read: (path) => server.read(path),
    postTraces: (payload) => server.postTraces(payload),
    async patch(path, body) {
      const headers = { 'content-type': 'application/json' }
      const response = await server.request(path, { method: 'PATCH', headers, body: JSON.stringify(body) })
      if (!response.ok) throw new Error(`PATCH ${path}: ${response.status} ${await response.text()}`)
    },
  }
}

async function plantAndCount(campaign: Campaign, count: number): Promise<string[]> {
  const startedMs = performance.now()
  await sendSessions(campaign, count)
  const sentMs = performance.now()
  console.log(`${count} sessions sent in ${seconds(sentMs - startedMs)}`)
  const issues = await waitUntilCounted(campaign)
  const doneMs = performance.now()
  const rate = (count / (doneMs - startedMs)) * 1000
  console.log(
    `findings ${seconds(doneMs - sentMs)} later: ${rate.toFixed(0)} sessions a second, from the first sent`,
  )
  console.log(`${issues.length} issues of ${shapes.length} kinds of failures`)
  const problems = await compareIssues(campaign, issues)
  for (const problem of problems) console.log(`  ${problem}`)
  return problems
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}

/** Resolves in version 2, sees it again in each version, ignores, and restarts in between. */
async function decide(campaign: Campaign, restartAll: () => Promise<void>): Promise<string[]> {
  const problems: string[] = []
  const [one, two, three, other] = shapes
  for (const [shape, version, state] of [
    [one, '1.0.0', 'resolved'],
    [two, '2.0.0', 'resolved'],
    [three, '3.0.0', 'reopened'],
  ] as const) {
    const issue = await findIssue(campaign, shape!)
    await campaign.nodes[0]!.patch(`/api/issues/${issue.id}`, { state: 'resolved', version: '2.0.0' })
    await sendOne(campaign, shape!, version)
    const wanted = { state, sessions: issue.sessions + 1 }
    expectSame(
      problems,
      `resolved in 2, seen in ${version}`,
      await waitForState(campaign, issue.id, wanted),
      wanted,
    )
  }
  const issue = await findIssue(campaign, other!)
  await campaign.nodes[0]!.patch(`/api/issues/${issue.id}`, { state: 'ignored', sessions: 2 })
  await sendOne(campaign, other!, '2.0.0')
  const once = { state: 'ignored', sessions: issue.sessions + 1 }
  expectSame(
    problems,
    'ignored until two more, seen once',
    await waitForState(campaign, issue.id, once),
    once,
  )
  await restartAll()
  expectSame(problems, 'after a restart', await waitForState(campaign, issue.id, once), once)
  await sendOne(campaign, other!, '2.0.0')
  const twice = { state: 'reopened', sessions: issue.sessions + 2 }
  expectSame(problems, 'seen twice', await waitForState(campaign, issue.id, twice), twice)
  return problems
}

function expectSame(problems: string[], what: string, found: object, wanted: object): void {
  const [one, other] = [JSON.stringify(found), JSON.stringify(wanted)]
  console.log(`${what}: ${one}`)
  if (one === other) return
  problems.push(what)
  console.log(`  expected: ${other}`)
}
