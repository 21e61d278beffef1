import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sessionFilterFields } from '@playhead/model'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { hex, tracesPayload } from '../../server/test/otlp.ts'
import { startTestServer, type TestServer } from '../../server/test/test-server.ts'
import packageJson from '../package.json' with { type: 'json' }
import { filterOptions } from '../src/cli/commands/session-filter.ts'
import { playheadOnTerminal } from '../src/cli/test/run-playhead.ts'

let server: TestServer
let locked: TestServer
let folder: string

const PASSWORD = 'correct horse'

beforeAll(async () => {
  server = await startTestServer()
  locked = await startTestServer({ PLAYHEAD_AUTH: 'on', PLAYHEAD_PASSWORD: PASSWORD })
  folder = await mkdtemp(join(tmpdir(), 'playhead-doctor-'))
})
afterAll(async () => {
  await server.stop()
  await locked.stop()
  await rm(folder, { recursive: true, force: true })
})

const run = (typed: string, environment: Record<string, string> = {}, endpoint = server.url) =>
  playheadOnTerminal(typed.split(' '), { endpoint, environment: { PLAYHEAD_DATA: folder, ...environment } })

async function record(tag: string): Promise<string> {
  const id = hex(16)
  await server.postTraces(
    tracesPayload([{ traceId: id, name: 'run', attributes: { 'playhead.session.tags': [tag] } }]),
  )
  return id
}

test('doctor checks everything and leaves nothing behind', async () => {
  const before = await server.sessions()
  const { stdout, stderr, exitCode } = await run('doctor')

  expect(
    stdout.replace(/[\d.,]+ \wB free(, [\d.,]+\w? inodes)?/, 'N free').replace(/in [\d.]+ ?m?s/, 'in N'),
  ).toBe(
    `\
✓ Node       ${process.versions.node}
✓ Folder     ${folder} is writable
✓ Disk       N free
✓ Server     ${server.url} responds
✓ Clock      agrees with the server
✓ Key        none needed
✓ Version    ${packageJson.version}
✓ Test span  sent and read back in N; removed
`,
  )
  expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 })
  expect(await server.sessions()).toEqual(before)
})

test('doctor says what is wrong and what to do', async () => {
  const file = join(folder, 'file')
  await writeFile(file, '')
  const { stdout, exitCode } = await run(`doctor --json --data ${file}/data`, {}, 'http://127.0.0.1:4')

  expect(JSON.parse(stdout)).toEqual({
    ok: false,
    checks: [
      { name: 'Node', ok: true, detail: process.versions.node },
      {
        name: 'Folder',
        ok: false,
        detail: `${file} is a file`,
        fix: 'Give this user write access, or choose another folder with PLAYHEAD_DATA (playhead serve --data).',
      },
      {
        name: 'Server',
        ok: false,
        detail: "Can't connect to http://127.0.0.1:4",
        fix: 'Start a server with: npx playhead serve --port 4',
      },
    ],
  })
  expect(exitCode).toBe(1)
})

type Report = { checks: { name: string; ok: boolean; detail: string }[] }

async function diagnose(environment: Record<string, string>) {
  const { stdout } = await run('doctor --json', environment, locked.url)
  const { checks } = JSON.parse(stdout) as Report
  return Object.fromEntries(
    checks
      .filter(({ name }) => name === 'Key' || name === 'Test span')
      .map(({ name, ok, detail }) => [name, `${ok ? '✓' : '✗'} ${detail.replace(/in [\d.]+ ?m?s/, 'in N')}`]),
  )
}

test('doctor knows keys and their scopes', async () => {
  const keyWith = async (scopes: string) =>
    (await run(`keys create ${scopes}`, { PLAYHEAD_PASSWORD: PASSWORD }, locked.url)).stdout.trim()
  const [both, ingest] = [await keyWith('--name a'), await keyWith('--scope ingest')]

  expect([
    await diagnose({}),
    await diagnose({ PLAYHEAD_API_KEY: 'ph_wrong' }),
    await diagnose({ PLAYHEAD_API_KEY: ingest }),
    await diagnose({ PLAYHEAD_API_KEY: both }),
    await diagnose({ PLAYHEAD_PASSWORD: PASSWORD }),
  ]).toEqual([
    {
      Key: '✗ none is set, and this server needs one',
      'Test span':
        '✗ This server needs a key: send it as "Authorization: Bearer ph_…" (SDK: PLAYHEAD_API_KEY), or log in on the page',
    },
    { Key: '✗ unknown or revoked', 'Test span': '✗ This key is unknown or revoked' },
    {
      Key: '✗ valid for project default, with scopes ingest; read is missing',
      'Test span': '✗ This key has the scopes ingest; this request needs "read"',
    },
    {
      Key: '✓ valid for project default, with scopes ingest, read',
      'Test span': '✓ sent and read back in N; it stays, marked as demo, because this key may not delete',
    },
    { Key: '✓ logged in with the password', 'Test span': '✓ sent and read back in N; removed' },
  ])
})

test('every field of the filter is an option', () => {
  const fields = Object.keys(filterOptions).map(
    (name) =>
      ({ since: 'from', until: 'to', 'service-version': 'version' })[name] ??
      name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase()),
  )
  expect(fields.toSorted()).toEqual(Object.keys(sessionFilterFields).toSorted())
})

test('the server understands every filter', async () => {
  const typed =
    'ls --json --failed-tool a --error b --test-file c --run-id d --variant e --environment f --service-version 1.2 --demo false --status fail --tag g --parent s_1a2b --lane fork --reruns include'
  expect(await run(typed)).toMatchObject({ stdout: '{"sessions":[\n\n]}\n', exitCode: 0 })
})

test('delete removes sessions by id and by filter', async () => {
  const [first, second, third] = [await record('old'), await record('old'), await record('new')]

  expect(await run('delete --tag old')).toMatchObject({
    stderr: 'playhead: 2 sessions would be deleted. To delete them, add --yes.\n',
    exitCode: 2,
  })
  expect(await run('delete --tag old --yes')).toEqual({
    stdout: '',
    stderr: 'Deleted 2 sessions.\n',
    exitCode: 0,
  })
  expect(await run(`delete ${third.slice(0, 12)} --json`)).toEqual({
    stdout: `{\n  "deleted": [\n    "${third}"\n  ]\n}\n`,
    stderr: '',
    exitCode: 0,
  })
  expect((await server.sessions()).filter(({ id }) => [first, second, third].includes(id))).toEqual([])
  expect(await run('delete')).toMatchObject({
    stderr: 'playhead: Pass the id of a session, or filters such as --tag. See playhead delete --help\n',
    exitCode: 2,
  })
  expect(await run('delete last --tag x')).toMatchObject({
    stderr: 'playhead: Use either ids or filters, not both.\n',
    exitCode: 2,
  })
})

test('tag adds tags to sessions and removes them', async () => {
  const [first, second] = [await record('triage'), await record('triage')]
  const short = (id: string) => `s_${id.slice(0, 8)}`

  expect(await run(`tag ${first} ${short(second)} --add bug --add p1 --remove triage`)).toEqual({
    stdout: `${short(first)}\tbug, p1\n${short(second)}\tbug, p1\n`,
    stderr: 'Changed the tags of 2 sessions.\n',
    exitCode: 0,
  })
  expect((await server.sessions('tag=bug')).map(({ id }) => id).sort()).toEqual([first, second].sort())
  expect(await run(`tag ${first} --remove bug --remove p1`)).toMatchObject({
    stdout: `${short(first)}\t(no tags)\n`,
    exitCode: 0,
  })
  expect(JSON.parse((await run(`tag ${second} --remove p1 --json`)).stdout)).toEqual({
    sessions: [{ id: second, tags: ['bug'] }],
  })
})

test.each([
  ['tag --add x', 'Pass the id of a session. See playhead tag --help'],
  ['tag last', 'Pass --add or --remove with a tag. See playhead tag --help'],
])('%s says what is missing', async (typed, message) => {
  expect(await run(typed)).toEqual({ stdout: '', stderr: `playhead: ${message}\n`, exitCode: 2 })
})

test('tag says which session does not exist', async () => {
  const { stderr, exitCode } = await run(`tag ${'0'.repeat(32)} --add x`)
  expect([stderr, exitCode]).toEqual([
    expect.stringContaining(`There is no session ${'0'.repeat(32)} in this project.`) as string,
    1,
  ])
})

test('retention is shown and set', async () => {
  const outcomes = []
  for (const typed of ['retention', 'retention 30', 'retention', 'retention forever', 'retention 0'])
    outcomes.push(Object.values(await run(typed)))
  expect(outcomes).toEqual([
    ['forever\n', '', 0],
    ['', 'Project default keeps its sessions for 30 days.\n', 0],
    ['30 days\n', '', 0],
    ['', 'Project default keeps its sessions forever.\n', 0],
    [
      '',
      'playhead: "0" is not a number of days. Examples: playhead retention 30, playhead retention forever\n',
      2,
    ],
  ])
})

test('prices are set, listed and removed', async () => {
  await run('prices set mine --input 3 --output 12')
  const set = await run('prices set mine --input 2.5 --output $10 --cache-read 0.25')
  const listed = await run('prices list')
  const stored = await run('prices list --json')
  const removed = await run('prices remove mine')

  expect(set.stderr).toBe(
    'Set the price of mine in project default. To apply it to stored sessions: playhead reprice\n',
  )
  expect(listed.stdout).toBe(
    'Model  Provider  Input  Output  Other             From\nmine              $2.5     $10  cache-read $0.25\n',
  )
  expect(JSON.parse(stored.stdout)).toEqual({
    priceOverrides: [
      { model: 'mine', inputPerMillion: 2.5, outputPerMillion: 10, cacheReadPerMillion: 0.25 },
    ],
  })
  expect(removed.stderr).toBe(
    'Removed the price of mine from project default. To apply it to stored sessions: playhead reprice\n',
  )
  expect(await run('prices remove mine')).toMatchObject({
    stderr: 'playhead: There is no own price for "mine". To see all: playhead prices list\n',
    exitCode: 1,
  })
  expect(await run('prices set mine --input cheap --output 1')).toMatchObject({
    stderr: 'playhead: --input can\'t be "cheap". Examples: 2.5, 0.075, 0\n',
    exitCode: 2,
  })
})
