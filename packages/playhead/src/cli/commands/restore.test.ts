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
const restored = { parts: 1, projects: 1, sessions: 1234 }

async function fileWith(content: Uint8Array): Promise<string> {
  const path = join(await temporaryFolder(), 'all.tar')
  await writeFile(path, content)
  return path
}

test('restore uploads the backup unchanged', async () => {
  const path = await fileWith(backup)
  const { endpoint, received } = await startFakeServer({
    'GET /api/health': {},
    'POST /api/restore': restored,
  })

  const outcome = await playhead(['restore', path], { endpoint })

  expect(outcome).toEqual({
    stdout: '',
    stderr: `Restored ${path}. The server now has 1 project and 1,234 sessions.\n`,
    exitCode: 0,
  })
  expect(received[1]!.headers['content-type']).toBe('application/x-tar')
  expect(received[1]!.body.equals(backup)).toBe(true)
})

test('restore prints the result as JSON', async () => {
  const { endpoint } = await startFakeServer({ 'GET /api/health': {}, 'POST /api/restore': restored })

  const { stdout } = await playheadOnTerminal(['restore', await fileWith(backup), '--json'], { endpoint })

  expect(JSON.parse(stdout)).toEqual(restored)
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

  expect(stderr).toBe(`playhead: The connection to ${endpoint} failed: socket hang up\n`)
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
