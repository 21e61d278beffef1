import { expect, test } from 'vitest'
import { startFakeServer } from '../test/fake-server.ts'
import { playhead, playheadOnTerminal } from '../test/run-playhead.ts'

const issue = {
  id: '1a2b3c4d5e6f708192a3b4c5',
  kind: 'loop',
  title: 'search_help was called 5 times with the same arguments',
  state: 'open',
  sessions: 12,
  users: 3,
  firstSeenAt: '2026-11-01T00:00:00.000Z',
  lastSeenAt: '2026-11-02T00:00:00.000Z',
  versions: ['1', '2'],
  exampleSessionId: 'ab'.repeat(16),
  passingSessionId: 'cd'.repeat(16),
}
const other = { ...issue, id: '1a2b000000000000000000ff', title: 'other' }

test('lists issues as a table, as lines and as JSON', async () => {
  const { endpoint, received } = await startFakeServer({
    'GET /api/issues': { issues: [issue], omitted: 3 },
  })
  const table = await playheadOnTerminal(['issues'], { endpoint })
  const lines = await playhead(['issues', '--state', 'all'], { endpoint })
  const json = await playhead(['issues', '--json'], { endpoint })

  expect(table.stdout).toMatch(/1a2b3c4d\s+open\s+search_help was called .*loop\s+12\s+3/)
  expect(lines.stdout).toBe(
    `open\t${issue.id}\tloop\t12\t3\t2026-11-02T00:00:00.000Z\tsearch_help was called 5 times with the same arguments\n`,
  )
  expect(JSON.parse(json.stdout)).toEqual({ issues: [issue], omitted: 3 })
  expect(lines.stderr).toBe("3 more issues of any state, seen longer ago, can't be listed.\n")
  expect(received.map(({ query }) => query.get('state'))).toEqual(['open', null, 'open'])
})

test('shows one issue by the first digits of its id', async () => {
  const detail = {
    ...issue,
    note: 'Ada looks into it',
    byVersion: [{ version: '2', sessions: 12, firstSeenAt: issue.firstSeenAt, lastSeenAt: issue.lastSeenAt }],
    suspects: [{ name: 'support', kind: 'loop', sessions: 12, asFirst: 12 }],
    example: { stepId: 'a', sentence: '' },
  }
  const { endpoint } = await startFakeServer({
    'GET /api/issues': { issues: [issue, other] },
    [`GET /api/issues/${issue.id}`]: detail,
  })
  const { stdout } = await playhead(['issues', 'show', '1a2b3'], { endpoint })
  const ambiguous = await playhead(['issues', 'show', '1a2b'], { endpoint })
  const unknown = await playhead(['issues', 'show', 'ffff'], { endpoint })

  expect(stdout).toContain('Note: Ada looks into it')
  expect(stdout).toContain('  support  loop, 12 sessions')
  expect(stdout).toContain('Compare: playhead diff s_cdcdcdcd s_abababab')
  expect(ambiguous.stderr).toContain('2 issues begin with 1a2b')
  expect(unknown.stderr).toContain('There is no issue ffff')
})

test('resolves, ignores, reopens and notes', async () => {
  const { endpoint, received } = await startFakeServer({
    'GET /api/issues': { issues: [issue] },
    [`PATCH /api/issues/${issue.id}`]: { ...issue, state: 'resolved', resolvedVersion: '2.1' },
  })
  const resolved = await playhead(['issues', 'resolve', '1a2b', '--in', '2.1'], { endpoint })
  await playhead(['issues', 'ignore', '1a2b', '--for', '100', '--note', 'later'], { endpoint })
  await playhead(['issues', 'reopen', '1a2b'], { endpoint })
  await playhead(['issues', 'note', '1a2b', '--clear'], { endpoint })
  const nothing = await playhead(['issues', 'note', '1a2b'], { endpoint })

  expect(resolved.stderr).toContain('1a2b3c4d is resolved in 2.1.')
  expect(
    received
      .filter(({ method }) => method === 'PATCH')
      .map(({ body }) => JSON.parse(String(body)) as unknown),
  ).toEqual([
    { state: 'resolved', version: '2.1' },
    { state: 'ignored', sessions: 100, note: 'later' },
    { state: 'open' },
    { note: '' },
  ])
  expect(nothing.exitCode).toBe(2)
})
