import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../test/temporary-folder.ts'
import { lockDataDirectory } from './data-lock.ts'

const holder = { pid: 4711, url: 'http://127.0.0.1:4318', startedAt: '2026-01-02T03:04:05.000Z' }

test('a second server is told who holds the data directory', async () => {
  const directory = await temporaryFolder()
  const lock = await lockDataDirectory(directory, holder)

  await expect(lockDataDirectory(directory, { ...holder, pid: 1 })).rejects.toThrow(
    /in use by another Playhead server: process 4711 at http:\/\/127\.0\.0\.1:4318, since 2026-01-02/,
  )

  await lock.release()
  await (await lockDataDirectory(directory, holder)).release()
})

test('a lock left by a killed process is replaced', async () => {
  const directory = await temporaryFolder()
  const script = `import { lockDataDirectory } from ${JSON.stringify(new URL('./data-lock.ts', import.meta.url).href)}
    await lockDataDirectory(${JSON.stringify(directory)}, ${JSON.stringify(holder)})
    console.log('locked'); setInterval(() => {}, 1000)`
  const other = spawn(process.execPath, ['--conditions=playhead-source', '--input-type=module', '-e', script])
  await once(other.stdout, 'data')
  other.kill('SIGKILL')
  await once(other, 'exit')

  await expect(lockDataDirectory(directory, holder)).resolves.toHaveProperty('release')
})
