import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../../test/temporary-folder.ts'
import { sendError, startFakeServer } from '../test/fake-server.ts'
import { makeTar } from '../test/make-tar.ts'
import { playhead, playheadOnTerminal } from '../test/run-playhead.ts'

const backup = makeTar({
  'backup.json': '{}\n',
  'steps/000001.native.gz': 'x'.repeat(200_000),
  'end.json': '{}\n',
})
const plan = {
  backupCreatedAt: '2026-11-16T12:00:00.000Z',
  projects: { total: 2, added: ['shop'], replaced: ['default'] },
  sessions: { total: 1234, added: 1000 },
  steps: { total: 5000, added: 4000, replaced: 3 },
  logs: 1,
  monitors: 2,
  destinations: 1,
  objects: 0,
  keys: {
    total: 1,
    isIncluded: false,
    list: [{ name: 'ci', project: 'default', scopes: ['ingest'], isRevoked: false, isPresent: false }],
  },
}
const told = `Backup of 2026-11-16T12:00:00.000Z
  projects  2 (1 new)
  sessions  1234 (1000 new)
  steps     5000 (4000 new, 3 replaced)
  logs      1 record
  objects   0
  watch     2 monitors, 1 destination
  keys      1, left out (--with-keys restores them)
Replaces the settings of: default
`

async function fileWith(content: Uint8Array): Promise<string> {
  const path = join(await temporaryFolder(), 'all.tar')
  await writeFile(path, content)
  return path
}

const server = { 'GET /api/health': {}, 'POST /api/restore': { isDryRun: true, plan } }

test('restore says what it will do, and does nothing without --yes', async () => {
  const path = await fileWith(backup)
  const { endpoint, received } = await startFakeServer(server)

  const outcome = await playhead(['restore', path], { endpoint })
  const dry = await playhead(['restore', path, '--dry-run', '--yes'], { endpoint })

  expect(outcome).toMatchObject({ stdout: told, exitCode: 2 })
  expect(outcome.stderr).toContain('Nothing was restored. To restore it, add --yes.')
  expect(dry).toEqual({ stdout: told, stderr: '', exitCode: 0 })
  expect(received.map(({ path: route, query }) => `${route} ${query.toString()}`)).toEqual([
    '/api/health ',
    '/api/restore withKeys=false&dryRun=true',
    '/api/health ',
    '/api/restore withKeys=false&dryRun=true',
  ])
})

test('with --yes, restore uploads the backup unchanged', async () => {
  const path = await fileWith(backup)
  const { endpoint, received } = await startFakeServer(server)

  const outcome = await playhead(['restore', path, '--yes', '--with-keys'], { endpoint })

  expect(outcome).toEqual({
    stdout: told,
    stderr: `Restored ${path}. To undo it: playhead restore --undo --yes\n`,
    exitCode: 0,
  })
  expect(received.map(({ query }) => query.toString()).slice(1)).toEqual([
    'withKeys=true&dryRun=true',
    'withKeys=true&dryRun=false',
  ])
  expect(received[2]!.headers['content-type']).toBe('application/x-tar')
  expect(received[2]!.body.equals(backup)).toBe(true)
})

test('keys that come to life are listed', async () => {
  const { endpoint } = await startFakeServer({
    ...server,
    'POST /api/restore': { plan: { ...plan, keys: { ...plan.keys, isIncluded: true } } },
  })
  const path = await fileWith(backup)
  const { stdout } = await playhead(['restore', path, '--with-keys', '--dry-run'], { endpoint })

  expect(stdout).toContain(`\
  keys      1, which work on this server afterwards:
              ci (project default: ingest)
`)
})

test('restore --undo says what it takes back, and does it with --yes', async () => {
  const { endpoint, received } = await startFakeServer({
    'GET /api/restore': { last: { restoredAt: '2026-11-16T13:00:00.000Z', plan } },
    'POST /api/restore/undo': { undone: plan },
  })

  const asked = await playhead(['restore', '--undo'], { endpoint })
  const undone = await playhead(['restore', '--undo', '--yes'], { endpoint })

  expect(asked.stdout).toBe(`The restore of 2026-11-16T13:00:00.000Z added or replaced:\n${told}`)
  expect(asked.stderr).toContain('Nothing was undone. To undo it, add --yes.')
  expect(undone).toEqual({
    stdout: '',
    stderr:
      'Undone: what the restore of 2026-11-16T13:00:00.000Z added is removed, and what it replaced is back.\n',
    exitCode: 0,
  })
  expect(received.map(({ method, path }) => `${method} ${path}`)).toEqual([
    'GET /api/restore',
    'GET /api/restore',
    'POST /api/restore/undo',
  ])
})

test('without a restore there is nothing to undo', async () => {
  const { endpoint } = await startFakeServer({ 'GET /api/restore': { last: null } })
  const { stderr, exitCode } = await playhead(['restore', '--undo', '--yes'], { endpoint })

  expect([stderr, exitCode]).toEqual([
    'playhead: There is no restore to undo: none was made, or the last was undone.\n',
    1,
  ])
})

test('restore prints the result as JSON', async () => {
  const { endpoint } = await startFakeServer(server)

  const { stdout } = await playheadOnTerminal(['restore', await fileWith(backup), '--json', '--yes'], {
    endpoint,
  })

  expect(JSON.parse(stdout)).toEqual({ isDryRun: true, plan })
})

test('a file that is no backup, or an incomplete one, is not sent', async () => {
  const { endpoint, received } = await startFakeServer({})
  const run = async (content: Uint8Array) =>
    (await playheadOnTerminal(['restore', await fileWith(content)], { endpoint })).stderr

  expect(await run(Buffer.from('hello'))).toContain(
    'is not a Playhead backup. Make one with: playhead backup',
  )
  expect(await run(makeTar({ 'photo.jpg': 'x' }))).toContain('is not a Playhead backup.')
  expect(await run(backup.subarray(0, 100_000))).toContain('is incomplete; nothing was restored.')
  expect((await playheadOnTerminal(['restore', 'nowhere.tar'], { endpoint })).stderr).toBe(
    'playhead: No such file: nowhere.tar\n',
  )
  expect(received).toEqual([])
})

test('missing permission is reported before the upload', async () => {
  const { endpoint, received } = await startFakeServer({
    'GET /api/health': (response) => sendError(response, 401, 'UNAUTHORIZED', 'This server needs a key.'),
  })

  const { stderr, exitCode } = await playheadOnTerminal(['restore', await fileWith(backup)], { endpoint })

  expect(stderr).toContain("Pass the server's password with --password or PLAYHEAD_PASSWORD.")
  expect(exitCode).toBe(1)
  expect(received.map(({ path }) => path)).toEqual(['/api/health'])
})

test('a lost connection during the upload is an error', async () => {
  const { endpoint } = await startFakeServer({
    'GET /api/health': {},
    'POST /api/restore': (response) => void response.destroy(),
  })

  const { stderr, exitCode } = await playhead(['restore', await fileWith(backup)], { endpoint })

  expect(stderr).toContain(`playhead: The connection to ${endpoint} failed: socket hang up\n`)
  expect(exitCode).toBe(1)
})

test('restore shows the error message of the server', async () => {
  const { endpoint } = await startFakeServer({
    'GET /api/health': {},
    'POST /api/restore': (response) => sendError(response, 400, 'BAD_REQUEST', 'Made by another Playhead.'),
  })

  const { stderr, exitCode } = await playheadOnTerminal(['restore', await fileWith(backup)], { endpoint })

  expect(stderr).toBe('playhead: Made by another Playhead.\n')
  expect(exitCode).toBe(1)
})
