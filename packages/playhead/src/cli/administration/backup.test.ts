import { once } from 'node:events'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { temporaryFolder } from '../../../test/temporary-folder.ts'
import { sendError, startFakeServer } from '../test/fake-server.ts'
import { makeTar } from '../test/make-tar.ts'
import { playhead, playheadOnTerminal, startPlayhead } from '../test/run-playhead.ts'

const backup = makeTar({
  'backup.json': '{}\n',
  'steps/000001.native.gz': 'x'.repeat(3000),
  'end.json': '{}\n',
})

test('a backup appears under its name when it is complete', async () => {
  const folder = await temporaryFolder()
  const { endpoint, received } = await startFakeServer({
    'GET /api/backup': (response) => {
      for (let offset = 0; offset < backup.length; offset += 700)
        response.write(backup.subarray(offset, offset + 700))
      response.end()
    },
  })

  const outcome = await playhead(['backup', '-o', 'all.tar'], {
    endpoint,
    folder,
    environment: { PLAYHEAD_API_KEY: 'ph_x' },
  })

  expect(outcome).toEqual({
    stdout: '',
    stderr: 'Saved the backup to all.tar (6.7 KB). To restore it: playhead restore all.tar\n',
    exitCode: 0,
  })
  expect(await readdir(folder)).toEqual(['all.tar'])
  expect((await readFile(join(folder, 'all.tar'))).equals(backup)).toBe(true)
  expect(received[0]!.headers.authorization).toBeUndefined()
})

test('a truncated backup is discarded', async () => {
  const folder = await temporaryFolder()
  const withoutEnd = makeTar({ 'backup.json': '{}\n', 'steps/000001.native.gz': 'x' })
  const { endpoint } = await startFakeServer({
    'GET /api/backup': (response) => void response.end(withoutEnd),
  })

  const { stderr, exitCode } = await playheadOnTerminal(['backup', '-o', join(folder, 'all.tar')], {
    endpoint,
  })

  expect(stderr).toContain('playhead: The backup ended early, after 3.1 KB, and was discarded.')
  expect(exitCode).toBe(1)
  expect(await readdir(folder)).toEqual([])
})

test('an existing file is overwritten only with --force', async () => {
  const path = join(await temporaryFolder(), 'all.tar')
  await writeFile(path, 'precious')
  const { endpoint, received } = await startFakeServer({
    'GET /api/backup': (response) => void response.end(backup),
  })

  const refused = await playheadOnTerminal(['backup', '-o', path], { endpoint })

  expect(refused).toEqual({
    stdout: '',
    stderr: `playhead: ${path} already exists. Pass --force to overwrite it.\n`,
    exitCode: 1,
  })
  expect(received).toEqual([])
  expect(await readFile(path, 'utf8')).toBe('precious')

  await playheadOnTerminal(['backup', '-o', path, '--force'], { endpoint })

  expect((await readFile(path)).equals(backup)).toBe(true)
})

test('a failed backup keeps the existing file', async () => {
  const folder = await temporaryFolder()
  await writeFile(join(folder, 'all.tar'), 'precious')
  const { endpoint } = await startFakeServer({
    'GET /api/backup': (response) => sendError(response, 401, 'UNAUTHORIZED', 'This server needs a key.'),
  })

  const { stderr } = await playheadOnTerminal(['backup', '-o', join(folder, 'all.tar'), '--force'], {
    endpoint,
  })

  expect(stderr).toBe(
    "playhead: This server needs a key.\nPass the server's password with --password or PLAYHEAD_PASSWORD.\n",
  )
  expect(await readFile(join(folder, 'all.tar'), 'utf8')).toBe('precious')
})

test('a terminal shows the progress', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const path = join(await temporaryFolder(), 'all.tar')
  const { endpoint } = await startFakeServer({
    'GET /api/backup': (response) => {
      vi.advanceTimersByTime(400)
      response.end(backup)
    },
  })

  const { stderr } = await playheadOnTerminal(['backup', '-o', path], { endpoint })

  expect(stderr.replace(/\d\.\d KB/, '… KB')).toContain(
    '\rBacking up … … KB\u001B[K\r\u001B[KSaved the backup',
  )
})

test('Ctrl-C leaves no partial file behind', async () => {
  const folder = await temporaryFolder()
  const { endpoint } = await startFakeServer({
    'GET /api/backup': (response) => void response.write(backup.subarray(0, 2000)),
  })
  const child = startPlayhead(['backup', '-o', 'all.tar'], { endpoint, folder })
  const ended = once(child, 'exit')
  await vi.waitFor(async () => expect(await readdir(folder)).toEqual(['all.tar.partial']), {
    timeout: 10_000,
  })

  child.kill('SIGINT')

  expect(await ended).toEqual([130, null])
  expect(await readdir(folder)).toEqual([])
})
