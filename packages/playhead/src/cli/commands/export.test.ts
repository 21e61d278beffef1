import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../../test/temporary-folder.ts'
import { startFakeServer } from '../test/fake-server.ts'
import { recordedSession, recording } from '../test/recorded.ts'
import { playhead, playheadOnTerminal } from '../test/run-playhead.ts'

const { id } = recordedSession.session

test('a recording goes to stdout, byte by byte as the server gave it', async () => {
  const { endpoint } = await startFakeServer({ [`GET /api/sessions/${id}/recording`]: recording })

  expect(await playhead(['export', id], { endpoint })).toEqual({
    stdout: JSON.stringify(recording),
    stderr: '',
    exitCode: 0,
  })
})

test('a recording in a file can be shown again', async () => {
  const folder = await temporaryFolder()
  const { endpoint } = await startFakeServer({ [`GET /api/sessions/${id}/recording`]: recording })

  const exported = await playhead(['export', id, '-o', 'failure.json'], { endpoint, folder })
  const shown = await playhead(['show', './failure.json'], { folder })

  expect(exported).toEqual({ stdout: '', stderr: 's_fc64bfcd is in failure.json (7.0 KB).\n', exitCode: 0 })
  expect(shown.stdout).toContain('Session: s_fc64bfcd')
  expect(await readdir(folder)).toEqual(['failure.json'])
})

test('spans are exported as OTLP', async () => {
  const { endpoint } = await startFakeServer({
    [`GET /api/sessions/${id}/recording.otlp`]: { resourceSpans: [] },
  })

  const { stdout } = await playheadOnTerminal(['export', id, '--format', 'otlp'], { endpoint })

  expect(JSON.parse(stdout)).toEqual({ resourceSpans: [] })
})

test('in a terminal, nothing of an export can act on it', async () => {
  const evil = { name: 'x\u009B31m\u202E😀' }
  const { endpoint } = await startFakeServer({ [`GET /api/sessions/${id}/recording`]: evil })

  const { stdout } = await playheadOnTerminal(['export', id], { endpoint })

  expect(stdout).toBe('{"name":"x\\u009b31m\\u202e😀"}\n')
  expect(JSON.parse(stdout)).toEqual(evil)
})

test('an export that breaks leaves no file behind', async () => {
  const folder = await temporaryFolder()
  const { endpoint } = await startFakeServer({
    [`GET /api/sessions/${id}/recording`]: (response) => {
      response.write('{"version":1,')
      setTimeout(() => response.destroy(), 50)
    },
  })

  const { stderr, exitCode } = await playhead(['export', id, '-o', 'failure.json'], { endpoint, folder })

  expect(stderr).toMatch(/^playhead: The connection to http:\/\/127\.0\.0\.1:\d+ failed: /)
  expect(exitCode).toBe(1)
  expect(await readdir(folder)).toEqual([])
})

test('where nothing can be written is said', async () => {
  const folder = await temporaryFolder()
  const { endpoint } = await startFakeServer({ [`GET /api/sessions/${id}/recording`]: recording })
  const run = (path: string) => playheadOnTerminal(['export', id, '-o', path], { endpoint })

  expect(await run(join(folder, 'no', 'x.json'))).toMatchObject({
    stderr: `playhead: There is no x.json in ${folder}/no, or no such folder.\n`,
    exitCode: 1,
  })
  expect(await run(folder)).toMatchObject({
    stderr: `playhead: ${folder} is a folder. Give the name of a file.\n`,
    exitCode: 2,
  })
  await expect(readFile(join(folder, 'x.json'))).rejects.toThrow('ENOENT')
})
