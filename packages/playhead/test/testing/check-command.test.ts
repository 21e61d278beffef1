import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { hex, tracesPayload, type SpanOptions } from '../../../server/test/otlp.ts'
import { startTestServer, type TestServer } from '../../../server/test/test-server.ts'
import { playhead as spawnPlayhead, playheadOnTerminal } from '../../src/cli/test/run-playhead.ts'
import { checkJunit } from './check-junit.ts'

let server: TestServer
let folder: string

type Sample = {
  tag: string
  branch: string
  isFailed?: boolean
  durationMs?: number
  tokens?: number
  testName?: string
  parentId?: string
}
let made = 0

function spanOf({
  tag,
  branch,
  isFailed = false,
  durationMs = 1_000,
  tokens = 1_000,
  testName,
  parentId,
}: Sample): SpanOptions {
  made += 1
  const startMs = Date.now() - 60_000 - made
  return {
    traceId: hex(16),
    spanId: hex(8),
    name: 'support',
    startMs,
    endMs: startMs + durationMs,
    attributes: {
      'playhead.session.name': 'support',
      'playhead.session.tags': [tag],
      'playhead.session.end_state': isFailed ? 'Fail' : 'Success',
      ...(isFailed && { 'playhead.session.end_state_reason': 'ValueError: no <customer> | id' }),
      'vcs.ref.head.name': branch,
      ...(testName !== undefined && { 'playhead.test.name': testName }),
      ...(parentId !== undefined && { 'playhead.rerun.parent': parentId, 'playhead.rerun.lane': 'tape' }),
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.model': 'gpt-4o',
      'gen_ai.provider.name': 'openai',
      'gen_ai.usage.input_tokens': tokens,
      'gen_ai.usage.output_tokens': 100,
    },
  }
}

const many = (count: number, sample: Sample) =>
  Array.from({ length: count }, (_, index) =>
    spanOf({
      ...sample,
      durationMs: (sample.durationMs ?? 1_000) + index * 3,
      tokens: (sample.tokens ?? 1_000) + index,
    }),
  )

beforeAll(async () => {
  server = await startTestServer()
  folder = await mkdtemp(join(tmpdir(), 'playhead-check-'))
  await server.postTraces(
    tracesPayload([
      ...many(40, { tag: 'gate', branch: 'dev' }),
      ...many(3, { tag: 'gate', branch: 'dev', isFailed: true }),
      ...many(5, { tag: 'few', branch: 'dev' }),
      ...many(4, { tag: 'tried', branch: 'dev' }),
      ...many(4, { tag: 'tried', branch: 'dev', isFailed: true, parentId: hex(16) }),
      ...many(2, { tag: 'mixed', branch: 'ci' }),
      ...many(2, { tag: 'mixed', branch: 'ci', isFailed: true, testName: 'bills-twice' }),
      ...many(20, { tag: 'cmp', branch: 'main' }),
      ...many(20, { tag: 'cmp', branch: 'same' }),
      ...many(12, { tag: 'cmp', branch: 'worse', durationMs: 1_400, tokens: 1_800 }),
      ...many(8, { tag: 'cmp', branch: 'worse', durationMs: 1_400, tokens: 1_800, isFailed: true }),
      ...many(20, { tag: 'cmp', branch: 'slightly', durationMs: 1_060, tokens: 1_050 }),
      ...many(2, { tag: 'cmp', branch: 'new' }),
      ...many(1, { tag: 'cmp', branch: 'tiny' }),
    ]),
  )
})
afterAll(async () => {
  await server.stop()
  await rm(folder, { recursive: true, force: true })
})

const check = (args: string, environment: Record<string, string> = {}) =>
  playheadOnTerminal(['check', ...args.split(' ')], { endpoint: server.url, environment })

test('sessions of tests are judged only when they are asked for', async () => {
  const rateOf = async (filter: string) => {
    const { stdout } = await check(`--max-failure-rate 0.05 --tag mixed ${filter}`.trim())
    return stdout.split('\n', 1)[0]
  }
  const withTests = '✗ failure rate: 50.0% > 5% (2 of 4 sessions failed)'
  expect(await rateOf('')).toBe('✓ failure rate: 0.0% ≤ 5% (0 of 2 sessions failed)')
  expect(await rateOf('--branch ci')).toBe(withTests)
  expect(await rateOf('--test bills-twice')).toBe('✗ failure rate: 100.0% > 5% (2 of 2 sessions failed)')
})

test('re-runs are judged only when they are asked for', async () => {
  const rateOf = async (filter: string) => {
    const { stdout } = await check(`--max-failure-rate 0.05 --tag tried ${filter}`.trim())
    return stdout.split('\n', 1)[0]
  }
  expect(await rateOf('')).toBe('✓ failure rate: 0.0% ≤ 5% (0 of 4 sessions failed)')
  expect(await rateOf('--reruns include')).toBe('✗ failure rate: 50.0% > 5% (4 of 8 sessions failed)')
  expect(await rateOf('--lane tape')).toBe('✗ failure rate: 100.0% > 5% (4 of 4 sessions failed)')
})

test('too many failures exit with 1', async () => {
  const { stdout, stderr, exitCode } = await check('--max-failure-rate 0.05 --tag gate')
  expect([exitCode, stderr]).toEqual([1, ''])
  expect(stdout).toContain('✗ failure rate: 7.0% > 5% (3 of 43 sessions failed)')
  expect(stdout).toMatch(
    /Recent failures:\n {2}s_[0-9a-f]{8} support: ValueError: no <customer> \| id\n {4}http:/,
  )
})

test('conditions that hold exit with 0', async () => {
  const { stdout, exitCode } = await check(
    '--max-failure-rate 10% --max-cost-per-session 0.01 --max-p95 8s --min-sessions 20 --tag gate',
  )
  expect(exitCode).toBe(0)
  expect(stdout.split('\n')).toEqual([
    '✓ failure rate: 7.0% ≤ 10% (3 of 43 sessions failed)',
    expect.stringMatching(/^✓ cost per session: \$0\.0035 ≤ \$0\.01 \(mean of 43 sessions\)$/),
    '✓ p95 duration: 1.1s ≤ 8.0s (43 sessions)',
    '',
  ])
})

test('cost and duration can be limited', async () => {
  expect((await check('--max-cost-per-session 0.001 --tag gate')).stdout).toContain(
    '✗ cost per session: $0.0035 > $0.001',
  )
  const slow = await check('--max-p95 500ms --tag gate')
  expect(slow).toMatchObject({ exitCode: 1 })
  expect(slow.stdout).toContain('✗ p95 duration: 1.1s > 500ms')
})

test('the mean of a score can be limited', async () => {
  const { sessions } = (await (await server.request('/api/sessions?tag=few')).json()) as {
    sessions: { id: string }[]
  }
  for (const [index, { id }] of sessions.entries())
    await server.request(`/api/sessions/${id}/scores`, {
      json: { name: 'helpful', value: index < 3, source: 'person' },
    })
  await server.services.drain()
  const good = await check('--min-score helpful:0.5 --tag few')
  expect(good).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('✓ score helpful: 0.6 ≥ 0.5') })
  const bad = await check('--min-score helpful:0.8 --tag few')
  expect(bad).toMatchObject({ exitCode: 1, stdout: expect.stringContaining('✗ score helpful: 0.6 < 0.8') })
  // A score that nobody gave is not good.
  expect((await check('--min-score tone:0.8 --tag few')).exitCode).not.toBe(0)
  expect((await check('--min-score helpful --tag few')).stderr).toContain('--min-score must be a name and')
})

test('not enough sessions exit with 3', async () => {
  const { stdout, exitCode } = await check('--max-failure-rate 0.05 --min-sessions 20 --tag few')
  expect([stdout, exitCode]).toEqual(['? failure rate: not enough data: 5 sessions, need at least 20\n', 3])
  expect(await check('--max-failure-rate 0.05 --tag nobody')).toMatchObject({ exitCode: 3 })
})

test('an unreachable server and invalid arguments exit with 2', async () => {
  const down = await spawnPlayhead(['check', '--max-failure-rate', '0.05'], {
    endpoint: 'http://127.0.0.1:9',
  })
  expect(down).toMatchObject({ exitCode: 2, stdout: '' })
  expect(down.stderr).toContain('127.0.0.1:9')
  for (const [args, message] of [
    ['', 'Nothing to check.'],
    ['--max-failure-rate 5', 'a number from 0 to 1'],
    ['--max-failure-rate few', 'must be a number like 0.05'],
    ['--max-p95 fast', 'must be a duration like 8s'],
    ['--max-failure-rate 0.1 --format pdf', 'pdf'],
  ] as const) {
    const outcome = await playheadOnTerminal(['check', ...args.split(' ').filter((part) => part !== '')], {
      endpoint: server.url,
    })
    expect(outcome).toMatchObject({ exitCode: 2, stdout: '' })
    expect(outcome.stderr).toContain(message)
  }
})

test('a branch is compared with a baseline', async () => {
  const worse = await check('--baseline main --branch worse --tag cmp')
  expect(worse.exitCode).toBe(1)
  expect(worse.stdout).toMatch(/✗ pass rate vs main: 60\.0% vs 100\.0% \(12\/20 vs 20\/20; p = 0\.00\d\)/)
  expect(worse.stdout).toMatch(/✗ cost vs main: median \$0\.00\d+ vs \$0\.0035 \(\+5\d%; p = 0\.000\)/)
  expect(worse.stdout).toMatch(/✗ duration vs main: median 1\.4s vs 1\.0s \(\+3\d%; p = 0\.000\)/)
  const same = await check('--baseline main --branch same --tag cmp')
  expect(same.exitCode).toBe(0)
  // Significant, but less than 10%.
  const slightly = await check('--baseline main --branch slightly --tag cmp')
  expect(slightly.stdout).toMatch(/✓ duration vs main: .*\(\+6%; p = 0\.000\)/)
  expect(slightly.exitCode).toBe(0)
  // One session against two is never significant.
  const few = await check('--baseline new --branch tiny --tag cmp')
  expect(few.stdout).toMatch(/\? pass rate vs new: not enough data: 100\.0% vs 100\.0%/)
  expect(few.exitCode).toBe(3)
  expect((await check('--baseline nowhere --branch new --tag cmp')).exitCode).toBe(3)
})

test('check prints every format', async () => {
  const json = await check('--max-failure-rate 0.05 --tag gate --format json')
  expect(JSON.parse(json.stdout)).toMatchObject({
    verdict: 'fail',
    sessionCount: 43,
    conditions: [{ name: 'failure rate', state: 'broken' }],
    failed: [{}, {}, {}],
  })
  const junit = await check(
    '--max-failure-rate 0.05 --max-p95 8s --min-sessions 43 --tag gate --format junit',
  )
  expect(checkJunit(junit.stdout)).toEqual({ tests: 2, failures: 1, skipped: 0 })
  expect(
    checkJunit((await check('--max-p95 8s --min-sessions 99 --tag gate --format junit')).stdout),
  ).toEqual({
    tests: 1,
    failures: 0,
    skipped: 1,
  })
  const markdown = await check('--max-failure-rate 0.05 --tag gate --format markdown')
  expect(markdown.stdout).toContain('## Sessions: ❌ failed')
  expect(markdown.stdout).toContain('| ✗ | failure rate | 7.0% &gt; 5% (3 of 43 sessions failed) |')
  expect(markdown.stdout).toContain('ValueError: no &lt;customer&gt; \\| id')
  const summary = join(folder, 'summary.md')
  const github = await check('--max-failure-rate 0.05 --tag gate --format github', {
    GITHUB_STEP_SUMMARY: summary,
  })
  expect(github.stdout).toBe(
    '::error title=playhead check%3A failure rate::failure rate: 7.0%25 > 5%25 (3 of 43 sessions failed)\n',
  )
  expect(await readFile(summary, 'utf8')).toBe(`${markdown.stdout}\n`)
})
