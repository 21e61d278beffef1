import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, globSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from './temporary-folder.ts'
import { startTestServer } from './test-server.ts'

const entry = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const doors = {
  'npm start': [entry('../src/main.ts')],
  'playhead serve': [entry('../../playhead/src/cli/main.ts'), 'serve'],
}

/** Any user but root, who may write everywhere. */
const NOBODY = 65_534

type Start = { data: string; port?: number; door?: keyof typeof doors; isNobody?: boolean }

/** Starts a server that can't start; returns what it printed. */
async function failToStart({ data, port = 0, door = 'npm start', isNobody = false }: Start) {
  const child = spawn(process.execPath, ['--conditions=playhead-source', ...doors[door]], {
    env: {
      ...process.env,
      PLAYHEAD_DATA: data,
      PLAYHEAD_PORT: String(port),
      PLAYHEAD_GRPC_PORT: 'off',
      PLAYHEAD_DEMO: 'off',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(isNobody && process.getuid?.() === 0 && { uid: NOBODY }),
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [stdout, stderr, [exitCode]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit') as Promise<[number]>,
  ])
  return { stdout, stderr, exitCode }
}

const saying = (sentence: string) => ({ stdout: '', stderr: `playhead: ${sentence}\n`, exitCode: 1 })

test.each(['npm start', 'playhead serve'] as const)('%s on a taken port says so', async (door) => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  onTestFinished(() => void other.close())
  const { port } = other.address() as { port: number }

  expect(await failToStart({ data: await temporaryFolder(), port, door })).toEqual(
    saying(
      `Port ${port} on 127.0.0.1 is in use by another program (an OpenTelemetry Collector uses 4318 by default). Stop it, or choose another port with PLAYHEAD_PORT=4319 (playhead serve --port 4319).`,
    ),
  )
})

const whereElse =
  'Give this user write access to it, or choose another folder with PLAYHEAD_DATA (playhead serve --data).'

test.each(['npm start', 'playhead serve'] as const)(
  '%s with a folder that this user may not write to says so',
  async (door) => {
    const data = await temporaryFolder()
    chmodSync(data, 0o555)

    expect(await failToStart({ data, door, isNobody: true })).toEqual(
      saying(`Can't write to the data folder ${data}: permission denied (EACCES ${data}). ${whereElse}`),
    )
  },
)

test('a store that this user may not write to is reported', async () => {
  const data = await temporaryFolder()
  const store = join(data, 'store')
  mkdirSync(store)
  chmodSync(store, 0o555)
  if (process.getuid?.() === 0) chownSync(data, NOBODY, NOBODY)

  expect(await failToStart({ data, isNobody: true })).toEqual(
    saying(`Can't write to the data folder ${data}: permission denied (EACCES ${store}). ${whereElse}`),
  )
})

test('a file in place of the folder is reported', async () => {
  const file = join(await temporaryFolder(), 'playhead')
  writeFileSync(file, '')

  expect(await failToStart({ data: file })).toEqual(
    saying(`Can't write to the data folder ${file}: ${file} is a file. ${whereElse}`),
  )
  expect(await failToStart({ data: join(file, 'data') })).toEqual(
    saying(
      `Can't write to the data folder ${file}/data: a part of the path is a file (ENOTDIR ${file}/data). ${whereElse}`,
    ),
  )
})

test('a store without readable definitions of its tables, nor a copy of them, is reported', async () => {
  const data = await temporaryFolder()
  const server = await startTestServer({ PLAYHEAD_DATA: data })
  await server.stop()
  const files = globSync('store/{tables/**/*.sql,definitions.json}', { cwd: data })
  for (const file of files) writeFileSync(join(data, file), 'garbage')

  const { stderr, ...rest } = await failToStart({ data, door: 'playhead serve' })

  expect(rest).toEqual({ stdout: '', exitCode: 1 })
  expect(stderr.trimEnd().split('\n')).toEqual([
    expect.stringMatching(/^playhead: the copy of the definitions of the tables is damaged\./),
    `playhead: Can't open the data in ${data}; it looks damaged (Failed to create connection for path '${data}/store/tables'). Move the folder away and start again with an empty one, or choose another one with PLAYHEAD_DATA; then load your last backup with: playhead restore <file>`,
  ])
})

test('a second server on the same folder is told about the first', async () => {
  const data = await temporaryFolder()
  const server = await startTestServer({ PLAYHEAD_DATA: data })
  onTestFinished(() => server.stop())

  expect(await failToStart({ data, door: 'playhead serve' })).toEqual({
    stdout: '',
    stderr: expect.stringMatching(
      new RegExp(
        `^playhead: ${data} is in use by another Playhead server: process ${process.pid} at \\S+, since \\S+\\. Use that one, stop it \\(kill ${process.pid}\\), or set PLAYHEAD_DATA to another folder\\.\n$`,
      ),
    ) as string,
    exitCode: 1,
  })
})
