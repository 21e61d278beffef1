import { chmod, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { temporaryFolder } from '../../../test/temporary-folder.ts'
import { startFakeServer } from '../test/fake-server.ts'
import { recordedSession } from '../test/recorded.ts'
import { playhead } from '../test/run-playhead.ts'

const { id, url } = recordedSession.session

test('open --print prints the URL without opening it', async () => {
  const { endpoint, received } = await startFakeServer({ 'GET /api/sessions/fc64bfcd': recordedSession })

  expect(await playhead(['open', 'fc64bfcd', '--print'], { endpoint })).toEqual({
    stdout: `http://localhost:4318/sessions/${id}\n`,
    stderr: '',
    exitCode: 0,
  })
  expect(received.map(({ query }) => query.toString())).toEqual(['payloads=none'])
})

test.skipIf(process.platform !== 'linux')('open starts the browser with the URL', async () => {
  const { endpoint } = await startFakeServer({ [`GET /api/sessions/${id}`]: recordedSession })
  const folder = await temporaryFolder()
  const opened = join(folder, 'opened')
  await writeFile(join(folder, 'xdg-open'), `#!/bin/sh\nprintf %s "$1" > ${opened}\n`)
  await chmod(join(folder, 'xdg-open'), 0o755)

  const outcome = await playhead(['open', id], {
    endpoint,
    environment: { PATH: `${folder}:${process.env.PATH}` },
  })

  expect(outcome).toEqual({ stdout: `${url}\n`, stderr: '', exitCode: 0 })
  await vi.waitFor(async () => expect(await readFile(opened, 'utf8')).toBe(url), { timeout: 60_000 })
})

test('without a browser, open still prints the URL', async () => {
  const { endpoint } = await startFakeServer({ [`GET /api/sessions/${id}`]: recordedSession })

  expect(await playhead(['open', id], { endpoint, environment: { PATH: '/nowhere' } })).toEqual({
    stdout: `${url}\n`,
    stderr: "Couldn't start a browser. Open the URL above yourself.\n",
    exitCode: 0,
  })
})

test('open rejects a URL that is not http or https', async () => {
  const session = { ...recordedSession.session, url: 'file:///etc/passwd' }
  const { endpoint } = await startFakeServer({ [`GET /api/sessions/${id}`]: { session, steps: [] } })

  const { stdout, stderr, exitCode } = await playhead(['open', id], { endpoint })

  expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 1 })
  expect(stderr).toContain('The server returned "file:///etc/passwd" as the URL of this session')
})
