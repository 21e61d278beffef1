import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../../test/temporary-folder.ts'
import { startTestServer } from '../../test/test-server.ts'
import { protectData } from './protect-data.ts'

beforeEach(() => {
  const before = process.umask(0o022)
  onTestFinished(() => void process.umask(before))
})

const modeOf = (path: string) => (lstatSync(path).mode & 0o777).toString(8)

/** The modes of everything in a folder, by kind. */
function modesIn(folder: string): Record<'folders' | 'files', string[]> {
  const found = { folders: new Set([modeOf(folder)]), files: new Set<string>() }
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    // The engine removes files while we look.
    if (!entry.isSymbolicLink() && existsSync(path))
      found[entry.isDirectory() ? 'folders' : 'files'].add(modeOf(path))
  }
  return { folders: [...found.folders], files: [...found.files].toSorted() }
}

function protect(folder: string): string[] {
  const lines: string[] = []
  protectData(folder, (line) => lines.push(line))
  return lines
}

test('a new data folder and everything in it belongs to this user alone', async () => {
  const data = join(await temporaryFolder(), 'playhead')
  const server = await startTestServer({ PLAYHEAD_DATA: data })
  onTestFinished(() => server.stop())

  const { folders, files } = modesIn(data)

  expect(folders).toEqual(['700'])
  // Sockets count as files; some files of the engine are read-only.
  for (const mode of files) expect(mode).toMatch(/^[4567]00$/)
  expect(server.reports).toEqual([])
})

test('an open folder of an older version is closed, once and with a word about it', async () => {
  const data = join(await temporaryFolder(), 'playhead')
  mkdirSync(join(data, 'log/steps'), { recursive: true })
  mkdirSync(join(data, 'store'))
  writeFileSync(join(data, 'log/steps/1.native'), '')
  chmodSync(join(data, 'store'), 0o700)
  expect(modesIn(data)).toEqual({ folders: ['755', '700'], files: ['644'] })

  expect(protect(data)).toEqual([
    `Other users of this machine could read ${data}, ${data}/log. Now only this user can.`,
  ])
  expect(modesIn(data)).toEqual({ folders: ['700'], files: ['600'] })
  expect(protect(data)).toEqual([])
})

test('what we did not create stays as it is', async () => {
  const data = join(await temporaryFolder(), 'shared')
  mkdirSync(join(data, 'log'), { recursive: true })
  mkdirSync(join(data, 'photos'))
  const elsewhere = await temporaryFolder()
  chmodSync(elsewhere, 0o755)
  symlinkSync(elsewhere, join(data, 'objects'))

  expect(protect(data)).toEqual([
    `Other users of this machine could read ${data}/log. Now only this user can.`,
  ])
  expect(protect(data)).toEqual([])

  expect(['', 'log', 'photos'].map((name) => modeOf(join(data, name)))).toEqual(['755', '700', '755'])
  expect(modeOf(elsewhere)).toBe('755')
})

test('an empty folder that was there is closed too', async () => {
  const data = join(await temporaryFolder(), 'mounted')
  mkdirSync(data)

  expect(protect(data)).toEqual([`Other users of this machine could read ${data}. Now only this user can.`])
  expect(modeOf(data)).toBe('700')
})
