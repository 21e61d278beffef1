import { expect, test } from 'vitest'
import { sendError, startFakeServer } from '../test/fake-server.ts'
import { playhead, playheadOnTerminal } from '../test/run-playhead.ts'

const sessionId = '1a2b3c4d5e6f7a8b1a2b3c4d5e6f7a8b'
const url = 'http://localhost:4318/shared/dd8a525d-7ed7-4d0c-a869-34baf0f73cc8#phs_token'
const share = {
  id: 'dd8a525d-7ed7-4d0c-a869-34baf0f73cc8',
  sessionId,
  hasContent: true,
  createdBy: 'ci',
  createdAt: '2020-01-02T03:04:05.000Z',
  expiresAt: '2199-01-09T03:04:05.000Z',
  revokedAt: null,
  opens: 0,
  lastOpenedAt: null,
}
const opened = { ...share, id: 'bb', hasContent: false, opens: 3, lastOpenedAt: '2020-01-03T03:04:05.000Z' }
const revoked = { ...share, id: 'aa', opens: 1, revokedAt: '2020-01-04T03:04:05.000Z' }
const expired = { ...share, id: 'cc', expiresAt: '2020-01-09T03:04:05.000Z' }

test('share prints only the link to stdout', async () => {
  const route = `POST /api/sessions/1a2b3c4d/shares`
  const { endpoint, received } = await startFakeServer({ [route]: { share, url } })

  const shared = await playhead(['share', 's_1a2b3c4d'], { endpoint })
  await playhead(['share', 's_1a2b3c4d', '--expires', '24h', '--without-content'], { endpoint })

  expect(shared).toEqual({
    stdout: `${url}\n`,
    stderr:
      'Shared s_1a2b3c4d with content until 2199-01-09 03:04 UTC. Revoke it with: playhead unshare dd8a525d-7ed7-4d0c-a869-34baf0f73cc8\n',
    exitCode: 0,
  })
  const bodies = received.map(({ body }) => JSON.parse(body.toString()) as Record<string, unknown>)
  expect(bodies).toEqual([{}, { expiresAt: expect.any(String), hasContent: false }])
  expect(Math.round((Date.parse(bodies[1]!.expiresAt as string) - Date.now()) / 3_600_000)).toBe(24)
})

test('shares lists links without their tokens, of the project or of one session', async () => {
  const shares = [share, opened, revoked, expired]
  const { endpoint, received } = await startFakeServer({ 'GET /api/shares': { shares } })

  const table = await playheadOnTerminal(['shares'], { endpoint })
  const lines = await playhead(['shares', '--session', '1a2b3c4d'], { endpoint })
  const json = await playhead(['shares', '--json'], { endpoint })

  expect(table.stdout.split('\n').map((line) => line.trimEnd().replaceAll(/ {2,}/g, ' | '))).toEqual([
    'ID | Session | Opened | State',
    'dd8a525d-7ed7-4d0c-a869-34baf0f73cc8 | s_1a2b3c4d | never | ✓ until 2199-01-09',
    'bb | s_1a2b3c4d | 3 times, 2020-01-03 | ✓ until 2199-01-09',
    'aa | s_1a2b3c4d | never | ✗ revoked',
    'cc | s_1a2b3c4d | never | ✗ expired 2020-01-09',
    '',
  ])
  expect(lines.stdout.split('\n')[1]).toBe(
    [
      'bb',
      sessionId,
      'no content',
      'ci',
      share.createdAt,
      share.expiresAt,
      '',
      '3',
      opened.lastOpenedAt,
    ].join('\t'),
  )
  expect(JSON.parse(json.stdout)).toEqual({ shares })
  expect(received.map(({ query }) => query.toString())).toEqual(['', 'session=1a2b3c4d', ''])
})

test('shares says how to create one if there are none', async () => {
  const { endpoint } = await startFakeServer({ 'GET /api/shares': { shares: [] } })
  expect(await playhead(['shares'], { endpoint })).toEqual({
    stdout: '',
    stderr: 'There are no share links. Create one with: playhead share <session>\n',
    exitCode: 0,
  })
})

test('unshare takes the id of a link, or the link', async () => {
  const { endpoint, received } = await startFakeServer({ [`DELETE /api/shares/${share.id}`]: { ...revoked } })

  const byId = await playhead(['unshare', share.id], { endpoint })
  const byLink = await playhead(['unshare', url], { endpoint })

  expect(byId).toEqual({
    stdout: '',
    stderr: 'Revoked the link to s_1a2b3c4d. It was opened once.\n',
    exitCode: 0,
  })
  expect(byLink).toEqual(byId)
  // The token is not for the server.
  expect(received.map(({ path }) => path)).toEqual([`/api/shares/${share.id}`, `/api/shares/${share.id}`])
})

test('says what the server says if there is no such link', async () => {
  const { endpoint } = await startFakeServer({
    'DELETE /api/shares/x': (response) =>
      sendError(response, 404, 'NOT_FOUND', 'Project "default" has no share link x.'),
  })
  expect(await playhead(['unshare', 'x'], { endpoint })).toEqual({
    stdout: '',
    stderr: 'playhead: Project "default" has no share link x.\n',
    exitCode: 1,
  })
})
