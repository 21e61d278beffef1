import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../../test/temporary-folder.ts'
import { startFakeServer } from '../test/fake-server.ts'
import { recordedSession, recording } from '../test/recorded.ts'
import { playhead, playheadOnTerminal } from '../test/run-playhead.ts'

const { id } = recordedSession.session

test.each([
  ['json', 'recording', 's_fc64bfcd.json'],
  ['html', 'recording.html', 's_fc64bfcd.html'],
  ['otlp', 'recording.otlp', 's_fc64bfcd.otlp.json'],
])('export --format %s writes a file named after the session', async (format, resource, file) => {
  const folder = await temporaryFolder()
  const { endpoint } = await startFakeServer({ [`GET /api/sessions/${id}/${resource}`]: { format } })

  expect(await playhead(['export', id, '--format', format], { endpoint, folder })).toEqual({
    stdout: '',
    stderr: `Saved s_fc64bfcd to ${file} (17 B).\n`,
    exitCode: 0,
  })
  expect(await readFile(join(folder, file), 'utf8')).toBe(JSON.stringify({ format }))
})

test.each([
  ['failure.html', 'recording.html'],
  ['Failure.otlp.json', 'recording.otlp'],
  ['failure.json', 'recording'],
  ['failure', 'recording'],
])('export -o %s writes the format that the name says', async (file, resource) => {
  const folder = await temporaryFolder()
  const { endpoint } = await startFakeServer({ [`GET /api/sessions/${id}/${resource}`]: { resource } })

  expect(await playhead(['export', id, '-o', file], { endpoint, folder })).toMatchObject({ exitCode: 0 })
  expect(await readFile(join(folder, file), 'utf8')).toBe(JSON.stringify({ resource }))
})

test('export does not replace the recording that it reads', async () => {
  const folder = await temporaryFolder()
  await writeFile(join(folder, 's_fc64bfcd.json'), JSON.stringify(recording))

  expect(await playhead(['export', 's_fc64bfcd.json'], { folder })).toEqual({
    stdout: '',
    stderr: 'playhead: s_fc64bfcd.json is the recording itself. Pass another name with -o.\n',
    exitCode: 2,
  })
})

test('export writes the recording to stdout unchanged', async () => {
  const { endpoint } = await startFakeServer({ [`GET /api/sessions/${id}/recording`]: recording })

  expect(await playhead(['export', id, '-o', '-'], { endpoint })).toEqual({
    stdout: JSON.stringify(recording),
    stderr: '',
    exitCode: 0,
  })
})

test('show reads what export saved', async () => {
  const folder = await temporaryFolder()
  const { endpoint } = await startFakeServer({ [`GET /api/sessions/${id}/recording`]: recording })

  const exported = await playhead(['export', id, '-o', 'failure.json'], { endpoint, folder })
  const shown = await playhead(['show', './failure.json'], { folder })

  expect(exported).toEqual({
    stdout: '',
    stderr: 'Saved s_fc64bfcd to failure.json (7.0 KB).\n',
    exitCode: 0,
  })
  expect(shown.stdout).toContain('Session: s_fc64bfcd')
  expect(await readdir(folder)).toEqual(['failure.json'])
})

test('export takes a recording, without a server', async () => {
  const folder = await temporaryFolder()
  await writeFile(join(folder, 'run.jsonl'), `${JSON.stringify(recording)}\n`)
  const run = (...args: string[]) => playhead(['export', 'run.jsonl', ...args], { folder })

  const { exportedAt: _, ...exported } = JSON.parse((await run('-o', '-')).stdout) as Record<string, unknown>
  const { exportedAt: __, ...given } = recording as unknown as Record<string, unknown>
  expect(exported).toEqual(given)
  expect(await run('--format', 'html', '-o', 'replay.html')).toEqual({
    stdout: '',
    stderr: expect.stringMatching(/^Saved s_fc64bfcd to replay\.html \(\d+.*\)\.\n$/) as string,
    exitCode: 0,
  })
  const html = await readFile(join(folder, 'replay.html'), 'utf8')
  expect(html.match(/data-playhead-session="\d+"/g)).toHaveLength(1)
  expect(await run('--format', 'otlp')).toMatchObject({
    stderr: expect.stringContaining('only the server has the original spans. Use json or html.') as string,
    exitCode: 2,
  })
  expect(await playhead(['export', 'missing.jsonl'], { folder })).toMatchObject({
    stderr: 'playhead: No such file or folder: missing.jsonl\n',
    exitCode: 1,
  })
})

test('export writes the spans as OTLP', async () => {
  const { endpoint } = await startFakeServer({
    [`GET /api/sessions/${id}/recording.otlp`]: { resourceSpans: [] },
  })

  const { stdout } = await playheadOnTerminal(['export', id, '--format', 'otlp', '-o', '-'], { endpoint })

  expect(JSON.parse(stdout)).toEqual({ resourceSpans: [] })
})

test('export escapes control characters in a terminal', async () => {
  const evil = { name: 'x\u009B31m\u202E😀' }
  const { endpoint } = await startFakeServer({ [`GET /api/sessions/${id}/recording`]: evil })

  const { stdout } = await playheadOnTerminal(['export', id, '-o', '-'], { endpoint })

  expect(stdout).toBe('{"name":"x\\u009b31m\\u202e😀"}\n')
  expect(JSON.parse(stdout)).toEqual(evil)
})

test('a failed export leaves no file behind', async () => {
  const folder = await temporaryFolder()
  const { endpoint } = await startFakeServer({
    [`GET /api/sessions/${id}/recording`]: (response) => {
      response.write('{"version":1,', () => response.destroy())
    },
  })

  const { stderr, exitCode } = await playhead(['export', id, '-o', 'failure.json'], { endpoint, folder })

  expect(stderr).toMatch(/^playhead: The connection to http:\/\/127\.0\.0\.1:\d+ failed: /)
  expect(exitCode).toBe(1)
  expect(await readdir(folder)).toEqual([])
})

test('export says why a file cannot be written', async () => {
  const folder = await temporaryFolder()
  const { endpoint } = await startFakeServer({ [`GET /api/sessions/${id}/recording`]: recording })
  const run = (path: string) => playheadOnTerminal(['export', id, '-o', path], { endpoint })

  expect(await run(join(folder, 'no', 'x.json'))).toMatchObject({
    stderr: `playhead: No such file or folder: ${folder}/no/x.json\n`,
    exitCode: 1,
  })
  expect(await run(folder)).toMatchObject({
    stderr: `playhead: ${folder} is a folder. Pass a file name.\n`,
    exitCode: 2,
  })
  await expect(readFile(join(folder, 'x.json'))).rejects.toThrow('ENOENT')
})
