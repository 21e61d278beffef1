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
