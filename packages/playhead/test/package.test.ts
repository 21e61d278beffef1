import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startOtlpSink } from './otlp-sink.ts'

const run = promisify(execFile)
const packageFolder = fileURLToPath(new URL('..', import.meta.url))
const modules = fileURLToPath(new URL('../../../node_modules', import.meta.url))

/** A user's project with the package installed as it would be published. */
let project: string

beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), 'playhead-package-'))
  const staged = join(project, 'staged')
  const node = (args: string[], cwd: string) => run(process.execPath, args, { cwd })
  await node([join(modules, 'tsdown/dist/run.mjs')], packageFolder)
  await node([join(packageFolder, 'stage-package.mjs'), staged], packageFolder)
  const npm = (args: string[], cwd: string) =>
    run('npm', [...args, '--offline', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd })
  await npm(['pack', '--pack-destination', project], staged)
  const tarball = (await readdir(project)).find((name) => name.endsWith('.tgz'))!
  await writeFile(join(project, 'package.json'), JSON.stringify({ name: 'user', private: true }))
  await npm(['install', join(project, tarball), '--legacy-peer-deps'], project)
  await mkdir(join(project, 'node_modules/@opentelemetry'), { recursive: true })
  await symlink(join(modules, '@opentelemetry/api'), join(project, 'node_modules/@opentelemetry/api'))
})
afterAll(() => rm(project, { recursive: true, force: true }))

const body = `
playhead.init({ endpoint: process.env.ENDPOINT, capture: false })
const fetchCustomer = playhead.recordAction('fetch_customer_data', async (customerId) => ({ id: customerId }))
playhead.withSession({ name: 'packaged' }, async (session) => {
  await fetchCustomer('c_42')
  playhead.record(new playhead.LLMEvent({ model: 'gpt-4o', usage: { input: 1000, output: 100 } }))
  console.log(JSON.stringify([session.actionEvents[0].params, session.cost, session.unpricedModels]))
}).then(() => {
  if (process.env.END === 'throw') setTimeout(() => { fetchCustomer('last'); throw new Error('uncaught') }, 1)
})
`

type UserOutcome = { stdout: string; stderr: string; exitCode: number }

async function runUser(file: string, environment: Record<string, string>): Promise<UserOutcome> {
  const env = { PATH: process.env.PATH, PLAYHEAD_SPOOL: join(project, 'spool'), ...environment }
  return new Promise((resolve) => {
    execFile(process.execPath, [file], { cwd: project, env }, (error, stdout, stderr) =>
      resolve({ stdout, stderr, exitCode: error === null ? 0 : Number(error.code) }),
    )
  })
}

test('no type declarations are written next to the sources', async () => {
  const folders = [join(packageFolder, 'src'), join(packageFolder, '../model/src')]
  const files = await Promise.all(folders.map((folder) => readdir(folder, { recursive: true })))
  expect(files.flat().filter((file) => file.endsWith('.d.ts'))).toEqual([])
})

describe.each([
  ['import', 'user.mjs', `import * as playhead from 'playhead'\n`],
  ['require', 'user.cjs', `const playhead = require('playhead')\n`],
])('%s', (_, file, source) => {
  test('records, prices and delivers', async () => {
    await writeFile(join(project, file), source + body)
    const sink = await startOtlpSink()
    const outcome = await runUser(file, { ENDPOINT: sink.url })
    expect(outcome).toEqual({ exitCode: 0, stderr: '', stdout: '[{"customerId":"c_42"},0.0035,[]]\n' })
    expect(sink.names().toSorted()).toEqual(['chat gpt-4o', 'fetch_customer_data', 'packaged'])
    await sink.stop()
  })

  test('delivers its last steps when the process crashes', async () => {
    await writeFile(join(project, file), source + body)
    const sink = await startOtlpSink()
    const outcome = await runUser(file, { ENDPOINT: sink.url, END: 'throw' })
    expect(outcome.exitCode).toBe(1)
    expect(outcome.stderr).toContain('Error: uncaught')
    // The exit waits for a second; what is not sent by then is in the spool, for the next process.
    await writeFile(
      join(project, file),
      `${source}playhead.init({ endpoint: process.env.ENDPOINT })\nplayhead.flush()`,
    )
    await runUser(file, { ENDPOINT: sink.url })
    // A batch that was in flight is sent again; the server deduplicates it.
    const calls = sink.spans().filter(({ name }) => name === 'fetch_customer_data')
    expect(new Set(calls.map(({ spanId }) => spanId)).size).toBe(2)
    await sink.stop()
  })
})

describe('an old Node', () => {
  /** Stands in for a Node that this machine may not have. */
  const old = `data:text/javascript,Object.defineProperty(process.versions,'node',{value:'20.20.2'})`
  const runOld = (args: string[]) =>
    run(process.execPath, ['--import', old, ...args], { cwd: project }).then(
      ({ stdout, stderr }) => ({ stdout, stderr, exitCode: 0 }),
      ({ stdout, stderr, code }: { stdout: string; stderr: string; code: number }) => ({
        stdout,
        stderr,
        exitCode: code,
      }),
    )

  test.each([
    ['old.mjs', `import * as playhead from 'playhead'\n`],
    ['old.cjs', `const playhead = require('playhead')\n`],
  ])('the SDK says so once in %s, records nothing and lets the program run', async (file, source) => {
    const program = `
playhead.init()
playhead.init()
const act = playhead.recordAction('act', (x) => x + 1)
playhead.withSession({ name: 'old' }, async () => {
  console.log(act(1), await playhead.flush())
})
`
    await writeFile(join(project, file), source + program)
    expect(await runOld([file])).toEqual({
      stdout: '2 true\n',
      stderr: 'playhead: The SDK needs Node 22.15 or newer; this is 20.20.2, so nothing is recorded.\n',
      exitCode: 0,
    })
  })

  test('the command line says so', async () => {
    expect(await runOld(['node_modules/playhead/dist/cli.mjs', 'ls'])).toEqual({
      stdout: '',
      stderr: 'playhead: The command line needs Node 22.15 or newer; this is 20.20.2.\n',
      exitCode: 1,
    })
  })

  test.each(['testing', 'node-test'])('playhead/%s says so', async (kit) => {
    const { stderr, exitCode } = await runOld(['--input-type=module', '-e', `import 'playhead/${kit}'`])
    expect(stderr).toContain(
      'Error: The testing kit of playhead needs Node 22.15 or newer; this is 20.20.2.\n',
    )
    expect(exitCode).toBe(1)
  })
})

test('both copies record together', async () => {
  const source = `import { createRequire } from 'node:module'
import * as imported from 'playhead'
const required = createRequire(import.meta.url)('playhead')
imported.init({ endpoint: false, capture: false })
imported.withSession((session) => {
  required.recordAction('from CommonJS', () => 1)()
  required.record(new required.ActionEvent({ actionType: 'event' }))
  console.log(JSON.stringify([session.actionEvents.map((event) => event.actionType), required.getSession() === session]))
})
`
  await writeFile(join(project, 'both.mjs'), source)
  const { stdout, stderr } = await run(process.execPath, ['both.mjs'], { cwd: project })
  expect([stdout, stderr]).toEqual(['[["from CommonJS","event"],true]\n', ''])
})

test('a session of a CommonJS agent is run again with the installed package', async () => {
  const folder = join(project, 'rerun')
  const files = {
    'agent.cjs': `const playhead = require('playhead')
const find = playhead.recordTool('find', async (id) => { console.log('found', id); return { id } })
exports.run = (text) => playhead.withSession({ name: 'packed', input: text }, () => find(text))`,
    'main.cjs': `require('playhead').init({ dir: '.' })
require('./agent.cjs').run('c_42').then(() => require('playhead').flush())`,
    'playhead.config.ts': `import { defineConfig, type AgentInput } from 'playhead'
import { run } from './agent.cjs'
export default defineConfig({ agents: { packed: { run: (input: AgentInput) => run(input.text) } } })`,
  }
  await mkdir(folder)
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  expect(await run(process.execPath, ['main.cjs'], { cwd: folder })).toMatchObject({ stdout: 'found c_42\n' })
  const recording = (await readdir(folder)).find((name) => name.endsWith('.jsonl'))!
  const cli = join(project, 'node_modules/playhead/dist/cli.mjs')
  const { stdout, stderr } = await run(process.execPath, [cli, 'rerun', recording, '--json'], { cwd: folder })
  const line = JSON.parse(stdout) as { parent: string }
  expect(line).toMatchObject({ verdict: 'same', calls: { taped: 1 } })
  expect(stderr).toBe(`Running packed again from s_${line.parent.slice(0, 8)}: 2 steps\n`)
})

test('both have types', async () => {
  const source = `
playhead.init({ apiKey: 'k', redact: ['ssn', /x/] })
const fetchCustomer = playhead.recordAction('fetch', async (customerId: string) => ({ id: customerId }))
export const id: Promise<string> = fetchCustomer('c').then((customer) => customer.id)
export const cost: number | null = playhead.getSession().cost
// @ts-expect-error The name is missing.
playhead.recordAction({}, () => 1)
`
  await writeFile(join(project, 'types.mts'), `import * as playhead from 'playhead'${source}`)
  await writeFile(join(project, 'types.cts'), `import playhead = require('playhead')${source}`)
  const flags = [
    '--noEmit',
    '--strict',
    '--module',
    'nodenext',
    '--target',
    'es2022',
    '--skipLibCheck',
    'false',
    '--types',
    '',
  ]
  expect(await typeErrors([...flags, 'types.mts', 'types.cts'])).toBe('')
})

async function typeErrors(options: readonly string[]): Promise<string> {
  return run(process.execPath, [join(modules, 'typescript/bin/tsc'), ...options], { cwd: project }).then(
    () => '',
    (error: { stdout: string }) => error.stdout,
  )
}

const kitBody = `
test('x', async ({ session }) => {
  expect(session).toHaveCalled('a', { args: ['c'], times: 1, mode: 'exact' })
  expect(session).not.toHaveCalledInOrder(['a', anyOrder(['b', { tool: 'c', args: { x: /y/ } }])])
  expect(session).toSatisfyOrder(before('a', 'b'))
  const names: string[] = session.actionEvents.map((event) => event.actionType)
  // @ts-expect-error There is no such mode.
  expect(session).toMatchTrajectory(names, { mode: 'some' })
})
test.agent('y', { inputs: variations('a').typos(), repeat: { max: 3, stop: 'sprt' } }, async ({ input, session }) => {
  const text: string = input
  expect(session).toHaveEffects([{ agent: 'r', steps: [text] }])
})
`

test('the testing kit has types for every runner', async () => {
  for (const name of ['vitest', '@jest', '@playwright', '@types'])
    await symlink(join(modules, name), join(project, 'node_modules', name))
  const runners = ['vitest', 'jest', 'node-test'].map(
    (name) =>
      [
        `${name}.mts`,
        `import { test, expect, before, anyOrder, variations } from 'playhead/${name}'${kitBody}`,
      ] as const,
  )
  const files = [
    ...runners,
    [
      'own-fixtures.mts',
      `import { test, expect } from 'playhead/vitest'
const own = test.extend<{ user: string }>({ user: 'x' })
own('o', ({ user, session, task }) => expect(user + task.name).toBe(session.name))
`,
    ],
    [
      'browser.cts',
      `import { agentSession, expect, expectSession, test } from 'playhead/playwright'
test('p', async ({ page, session }) => {
  await expect(page.locator('x')).toBeVisible()
  expectSession(await agentSession(page, { timeout: '9s' })).not.toHaveCalled(session.name)
})
`,
    ],
    [
      'plain.mts',
      `import { called, openRecording, type Verdict } from 'playhead/testing'
import Reporter from 'playhead/reporter'
export const verdict: Verdict = called(await openRecording('x'), 'y')
export const reporter = new Reporter({ keep: 'failures' })
`,
    ],
  ] as const
  for (const [name, source] of files) await writeFile(join(project, name), source)
  const flags = [
    '--noEmit',
    '--strict',
    '--module',
    'nodenext',
    '--target',
    'es2023',
    '--lib',
    'es2024,dom',
    '--skipLibCheck',
    '--types',
    'node',
  ]
  expect(await typeErrors([...flags, ...files.map(([name]) => name)])).toBe('')
})

test('the command runs', async () => {
  const { stdout } = await run(join(project, 'node_modules/.bin/playhead'), ['--version'], { cwd: project })
  expect(stdout).toBe('0.1.0\n')
})
