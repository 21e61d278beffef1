import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestServer, type TestServer } from '../../server/test/test-server.ts'
import { readMonitor } from '../src/cli/monitors/monitor-file.ts'
import { playheadOnTerminal } from '../src/cli/test/run-playhead.ts'

let server: TestServer
let folder: string
let written = 0

beforeAll(async () => {
  server = await startTestServer()
  folder = await mkdtemp(join(tmpdir(), 'playhead-monitors-'))
})
afterAll(async () => {
  await server.stop()
  await rm(folder, { recursive: true, force: true })
})

/** A file of its own each time, because Node loads a module once. */
async function write(monitors: string): Promise<string> {
  const file = join(folder, `${(written += 1)}.mjs`)
  await writeFile(file, `export default ${monitors}`)
  return file
}

const run = (...args: string[]) => playheadOnTerminal(['monitors', ...args], { endpoint: server.url })

test('plan shows the change, apply makes it, and applying again changes nothing', async () => {
  expect((await run()).stderr).toContain('Nothing is watched.')
  const byHand = { name: 'By hand', condition: { kind: 'silence', windowMs: 3_600_000 } }
  await server.request('/api/monitors', { json: byHand })
  const first = await write(`[
    { name: 'Failures', measure: 'failure-rate', above: '5%', over: '1h', minimum: 20, filter: { tag: 'support' }, for: '5m' },
    { name: 'Refund without identity', rule: { never: 'issue_refund', before: 'verify_identity' } },
  ]`)
  const planned = await run('plan', '--file', first)
  expect(planned.stdout).toBe(`\
+ failures  Failures: the failure rate of tag:support over 1h is above 5.0%, with at least 20 sessions, for 5m
+ refund-without-identity  Refund without identity: a session within 1h breaks: never issue_refund before verify_identity

2 to create, 0 to change, 0 to delete, 0 unchanged.
`)
  const monitors = async () => {
    const { monitors: all } = (await (await server.request('/api/monitors')).json()) as {
      monitors: { monitor: { id: string } }[]
    }
    return all.map(({ monitor }) => monitor.id)
  }
  expect(await monitors()).toEqual(['by-hand'])
  expect((await run('apply', '--file', first)).exitCode).toBe(0)
  expect(await monitors()).toEqual(['by-hand', 'failures', 'refund-without-identity'])
  expect((await run('apply', '--file', first)).stdout).toBe(
    '0 to create, 0 to change, 0 to delete, 2 unchanged.\n',
  )

  const second = await write(
    `[{ name: 'Failures', measure: 'failure-rate', above: 0.1, over: '1h', minimum: 20, destinations: ['on-call'] }]`,
  )
  expect((await run('plan', '--file', second)).stdout).toContain('with at least 20 sessions, tells on-call\n')
  expect((await run('apply', '--file', second)).stdout).toContain(
    '0 to create, 1 to change, 1 to delete, 0 unchanged.',
  )
  expect((await run('apply', '--file', second)).stdout).toContain('0 to delete, 1 unchanged.')
  expect(await monitors()).toEqual(['by-hand', 'failures'])
  expect((await run()).stdout).toContain('over 1h is above 10%')
})

test('plan and apply name the destinations that would hear nothing, and why', async () => {
  await server.services.registry.createProject({ id: 'told', name: 'Told' })
  const of = (...args: string[]) => run(...args, '--project', 'told')
  const { destinations } = server.services
  const save = (id: string, url: string) =>
    destinations.save({
      project: 'told',
      id,
      definition: { kind: 'slack', name: id, url, isEnabled: true, includesText: false },
    })
  await save('fine', 'https://93.184.215.14/hook')
  await save('inside', 'http://10.1.2.3/hook')
  const inside =
    'Nothing is sent to inside: 10.1.2.3 is not a public address. If the server may connect to it, add it to PLAYHEAD_ALERT_ALLOW and restart the server.\n'
  const some = await write(`[{ name: 'a', silence: '1h', destinations: ['fine', 'inside', 'gone'] }]`)
  const planned = await of('plan', '--file', some)
  expect(planned).toMatchObject({
    exitCode: 0,
    stderr: `${inside}Nothing is sent to gone: there is no destination with this id. Save it under Settings → Alerts.\n`,
  })
  // A monitor that names none tells all.
  const all = await write(`[{ name: 'a', silence: '1h' }]`)
  expect((await of('apply', '--file', all)).stderr).toBe(`${inside}Applied.\n`)
  const nobody = await write(`[{ name: 'a', silence: '1h', destinations: [] }]`)
  expect((await of('apply', '--file', nobody)).stderr).toBe('Applied.\n')
})

test('every kind of monitor comes from the file as it is written', async () => {
  await server.services.registry.createProject({ id: 'kinds', name: 'Kinds' })
  const of = (...args: string[]) => run(...args, '--project', 'kinds')
  const file = await write(`[
    { name: 'never', rule: { never: 'issue_refund', before: 'verify_identity' }, within: '1d', sessions: 5 },
    { name: 'always', rule: { always: 'say_goodbye' } },
    { name: 'at most', rule: { atMost: 3, action: 'search' } },
    { name: 'only', rule: { only: ['search', 'answer'] } },
    { name: 'cost', rule: { cost: 0.05 }, filter: { tag: 'support' } },
    { name: 'duration', rule: { duration: '2m' } },
    { name: 'no errors', rule: { noErrors: true } },
    { name: 'no finding', rule: { noFinding: 'loop' } },
    { name: 'score', rule: { score: 'helpful', atLeast: 0.5 } },
    { name: 'failures', measure: 'failure-rate', above: '5%', over: '1h', minimum: 20 },
    { name: 'cost change', measure: 'cost', above: 1, isChange: true, over: '1d' },
    { name: 'slow', measure: 'p95', above: '8s', over: '1h' },
    { name: 'few', measure: 'count', below: 3, over: '1h' },
    { name: 'mean', measure: 'score', score: 'helpful', below: 0.4, over: '1h' },
    { name: 'silence', silence: '30m', filter: { environment: 'production' } },
    { name: 'issue', issue: '1d' },
  ]`)
  const planned = await of('plan', '--file', file)
  expect(planned.stdout.match(/^\+/gm)).toHaveLength(16)
  expect(planned.stdout).toContain('16 to create, 0 to change, 0 to delete, 0 unchanged.')
  expect((await of('apply', '--file', file)).exitCode).toBe(0)
  for (const command of ['plan', 'apply'])
    expect((await of(command, '--file', file)).stdout).toBe(
      '0 to create, 0 to change, 0 to delete, 16 unchanged.\n',
    )
  const { monitors } = (await (await server.request('/api/monitors?project=kinds')).json()) as {
    monitors: { monitor: { name: string }; sentence: string }[]
  }
  expect(Object.fromEntries(monitors.map(({ monitor, sentence }) => [monitor.name, sentence]))).toEqual({
    never: '5 sessions within 1d break: never issue_refund before verify_identity',
    always: 'a session within 1h breaks: always say_goodbye',
    'at most': 'a session within 1h breaks: at most 3 × search with the same arguments',
    only: 'a session within 1h breaks: no action outside search, answer',
    cost: 'a session of tag:support within 1h breaks: cost ≤ $0.05',
    duration: 'a session within 1h breaks: duration ≤ 120s',
    'no errors': 'a session within 1h breaks: no errors',
    'no finding': 'a session within 1h breaks: no finding of kind loop',
    score: 'a session within 1h breaks: score helpful ≥ 0.5',
    failures: 'the failure rate over 1h is above 5.0%, with at least 20 sessions',
    'cost change': 'the cost over 1d is above +100% of the same time a week before, with at least 1 session',
    slow: 'the p95 duration over 1h is above 8.0s, with at least 1 session',
    few: 'the number of sessions over 1h is below 3, with at least 1 session',
    mean: 'the mean score helpful over 1h is below 0.4, with at least 1 session',
    silence: 'no session of environment:production has started for 30m',
    issue: 'an issue is new or reopened within 1d',
  })
})

test.each([
  [{}, 'The monitor number 1: it needs a name.'],
  [{ name: 'x' }, 'The monitor "x": it needs one of rule, measure, silence and issue.'],
  [{ name: 'x', silence: 'long' }, 'silence must be a duration like "30m", "1h" or "7d".'],
  [{ name: 'x', rule: { sometimes: 'a' } }, 'rule needs one of never, always'],
  [{ name: 'x', measure: 'cost', above: 'much', over: '1h' }, 'above must be a number.'],
  [{ name: 'x', silence: '1h', destinations: 'on-call' }, 'destinations must be a list of ids'],
  [{ name: '!!!', silence: '1h' }, 'set one with id'],
])('%o is refused with what to write instead', (given, message) => {
  expect(() => readMonitor(given, 0)).toThrow(message)
})

test('without a file it says how to write one', async () => {
  const { stderr, exitCode } = await run('plan', '--file', join(folder, 'none.mjs'))
  expect(stderr).toContain('There is no file')
  expect(exitCode).toBe(1)
})
