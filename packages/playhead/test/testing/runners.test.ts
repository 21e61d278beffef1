import { execFile, spawn } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { SessionSummary } from '@playhead/model'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestServer, type TestServer } from '../../../server/test/test-server.ts'

const packageFolder = fileURLToPath(new URL('../..', import.meta.url))
const root = fileURLToPath(new URL('../../../..', import.meta.url))
const modules = join(root, 'node_modules')
const suite = fileURLToPath(new URL('runner-suite', import.meta.url))

let folder: string
let server: TestServer

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'playhead-runners-'))
  const built = join(folder, 'built')
  const node = (...args: string[]) => run(process.execPath, args, packageFolder)
  const building = node(
    join(modules, 'tsdown/dist/run.mjs'),
    '--out-dir',
    built,
    '--no-dts',
    '--logLevel',
    'warn',
  )
  server = await startTestServer()
  const { exitCode, output } = await building
  if (exitCode !== 0) throw new Error(output)
  const staged = await node('stage-package.mjs', join(folder, 'staged'), built)
  if (staged.exitCode !== 0) throw new Error(staged.output)
})
afterAll(async () => {
  await server.stop()
  await rm(folder, { recursive: true, force: true, maxRetries: 3 })
})

type Outcome = { output: string; exitCode: number; sessions: SessionSummary[] }

function run(command: string, args: string[], cwd: string, env: NodeJS.ProcessEnv = process.env) {
  return new Promise<Omit<Outcome, 'sessions'>>((resolve) => {
    execFile(command, args, { cwd, env, maxBuffer: 32 * 1024 * 1024 }, (error, stdout, stderr) =>
      resolve({ output: stdout + stderr, exitCode: error === null ? 0 : Number(error.code ?? 1) }),
    )
  })
}

/** Creates a user's project with the package as published and a test runner. */
async function makeProject(name: string, linked: Record<string, string>, files: string[]): Promise<string> {
  const project = join(folder, name)
  const own = join(project, 'node_modules')
  await mkdir(join(own, 'shared-suite'), { recursive: true })
  await cp(join(folder, 'staged'), join(own, 'playhead'), { recursive: true })
  await cp(join(suite, 'shared.cjs'), join(own, 'shared-suite/index.cjs'))
  await writeFile(join(own, 'shared-suite/package.json'), '{"name":"shared-suite","main":"index.cjs"}')
  await writeFile(join(project, 'package.json'), JSON.stringify({ name, private: true }))
  for (const [target, source] of Object.entries({
    '@opentelemetry/api': join(modules, '@opentelemetry/api'),
    ...linked,
  })) {
    await mkdir(dirname(join(own, target)), { recursive: true })
    await symlink(source, join(own, target))
  }
  for (const file of [...files, 'answers.jsonl']) await cp(join(suite, file), join(project, file))
  return project
}

async function runProject(project: string, args: string[]): Promise<Outcome> {
  const runId = project.split('/').at(-1)!
  const { NODE_OPTIONS: _, VITEST: __, ...inherited } = process.env
  const env = {
    ...Object.fromEntries(
      Object.entries(inherited).filter(([name]) => !/^(?:VITEST|JEST|NODE_TEST|PLAYHEAD)/.test(name)),
    ),
    PLAYHEAD_ENDPOINT: server.url,
    PLAYHEAD_RUN_ID: runId,
    PLAYHEAD_SPOOL: 'off',
    PLAYHEAD_CASSETTE: 'strict',
    GITHUB_ACTIONS: 'true',
    GITHUB_REF_NAME: 'feature/refunds',
    GITHUB_SHA: 'abc123',
    GITHUB_RUN_ID: '7',
    NO_COLOR: '1',
  }
  const outcome = await run(process.execPath, args, project, env)
  const sessions = await server.sessions(`limit=500&runId=${runId}`)
  return { ...outcome, sessions }
}

/** Describes each session as "state attempt variant suite > name". */
function describeSessions({ sessions }: Outcome): string[] {
  return sessions
    .map(({ endState, test: of }) =>
      [
        endState,
        of?.attempt,
        of?.variant === undefined ? '' : `"${of.variant}"`,
        of?.suite === undefined ? '' : `${of.suite} >`,
        of?.name,
      ]
        .filter((part) => part !== '')
        .join(' '),
    )
    .toSorted()
}

const inEveryRunner = [
  'fail 1 asks for more than its cassette has',
  'fail 1 "bad" varies',
  'fail 1 "c_1" holds mostly',
  'fail 1 fails with a diff',
  'fail 1 fails with an error of the agent',
  'fail 1 takes too long',
  'fail 2 "bad" varies',
  'success 1 "c_1" varies',
  'success 1 "c_2" holds mostly',
  'success 1 "c_2" varies',
  'success 1 errors are found, live',
  'success 1 every matcher, from a file and from the server',
  'success 1 every matcher, live',
  'success 1 is answered from its cassette',
  ...[2, 3, 4].flatMap((attempt) => ['c_1', 'c_2'].map((id) => `success ${attempt} "${id}" holds mostly`)),
  'success 2 "c_1" varies',
  'success 2 "c_2" varies',
]

function expectWhatAllHave(outcome: Outcome, file: string): void {
  const { output, exitCode, sessions } = outcome
  expect(exitCode).toBe(1)
  expect(output).toMatch(/▶ verify +- –   ← first difference/)
  const diffed = sessions.find((session) => session.test?.name === 'fails with a diff')!
  expect(output).toContain(`Replay: ${server.url}/sessions/${diffed.id}?step=`)
  expect(output).toContain('Agent failed on 1/3 variants:')
  const bad = sessions.find((session) => session.test?.variant === 'bad' && session.test.attempt === 1)!
  expect(output).toMatch(/- "bad" \(2 of 2 runs\): Expected the session to call look_up/)
  expect(output).toContain(`${server.url}/sessions/${bad.id}`)
  expect(diffed).toMatchObject({
    name: 'fails with a diff',
    tags: ['test', 'fails with a diff', 'agent'],
    test: { file, attempt: 1 },
    vcs: { branch: 'feature/refunds', commit: 'abc123' },
  })
  expect(diffed.endStateReason).toContain('Expected these calls in this order')
  const late = sessions.find((session) => session.test?.name === 'takes too long')!
  expect(late.endStateReason).toMatch(/time/i)
  expect(output).toMatch(
    /The cassette answers\.jsonl has no answer\. .* message 1 \(user\) is "How are you\?"/,
  )
  const failed = sessions.find((session) => session.test?.name === 'fails with an error of the agent')!
  expect(failed.endStateReason).toContain('TypeError: id cannot be null')
  // The error belongs to the action; the test only propagated it.
  expect(failed.errorCount).toBe(1)
  for (const { id } of [late, failed])
    expect(output).toContain(`failed. Replay: ${server.url}/sessions/${id}\n`)
}

/** The runners' own default is 5 seconds, which a busy machine may need to start a client. */
const PATIENCE_MS = 60_000

/** Each failed test is annotated where it stands in its file. */
async function expectAnnotations(output: string, file: string): Promise<void> {
  const lines = (await readFile(join(suite, file), 'utf8')).split('\n')
  const at = (text: string) =>
    `::error file=${file},line=${lines.findIndex((line) => line.includes(text)) + 1},title=`
  const [shared, own] = [at('shared.defineTests'), at("test('takes too long'")]
  expect((output.match(/^::error .*?title=/gm) ?? []).toSorted()).toEqual(
    [shared, shared, shared, shared, own].toSorted(),
  )
}

/** The report contains every session and is built from the published package alone. */
async function expectReport(project: string, { output, sessions }: Outcome, file: string): Promise<void> {
  await expectAnnotations(output, file)
  const { length } = sessions
  expect(output).toMatch(new RegExp(`\\d+ tests: 5 failed, .*${length} sessions`, 's'))
  const html = await readFile(join(project, 'playhead-report/index.html'), 'utf8')
  const blocks = html.match(/data-playhead-session="\d+"/g) ?? []
  // One test records another session inside its own.
  expect(blocks.length).toBeGreaterThanOrEqual(length)
}

describe('the same suite', () => {
  test.each([
    ['vitest-newest', join(modules, 'vitest')],
    ['vitest-previous', join(root, 'examples/previous-runners/node_modules/vitest')],
  ])('in %s', async (name, vitest) => {
    const project = await makeProject(name, { vitest }, ['suite.vitest.test.mjs'])
    const outcome = await runProject(project, [
      join(vitest, 'vitest.mjs'),
      'run',
      `--testTimeout=${PATIENCE_MS}`,
      '--reporter=default',
      '--reporter=playhead/reporter',
    ])
    expect(describeSessions(outcome)).toEqual(
      [
        ...inEveryRunner,
        'fail 1 works at the second try',
        'success 1 at the same time > as c_a',
        'success 1 at the same time > as c_b',
        'success 1 at the same time > as c_c',
        'success 1 each c_4',
        'success 1 each c_5',
        'success 1 for c_6',
        'success 1 is meant to fail',
        'success 1 own fixtures',
        'success 2 works at the second try',
      ].toSorted(),
    )
    expectWhatAllHave(outcome, 'suite.vitest.test.mjs')
    expect(outcome.output).toContain('5 failed')
    const apart = outcome.sessions.filter((session) => session.test?.suite === 'at the same time')
    expect(apart.map(({ actionCount }) => actionCount)).toEqual([3, 3, 3])
    const results = await readFile(join(project, '.playhead', name, '..', '.gitignore'), 'utf8')
    expect(results).toBe('*\n')
    await expectReport(project, outcome, 'suite.vitest.test.mjs')
  })

  test('in jest', async () => {
    const linked = { '@jest/globals': join(modules, '@jest/globals') }
    const project = await makeProject('jest', linked, ['suite.jest.test.cjs', 'retry.jest.test.cjs'])
    await writeFile(
      join(project, 'jest.config.cjs'),
      `module.exports = { testMatch: ['**/*.test.cjs'], moduleFileExtensions: ['cjs', 'js', 'json'], transform: {}, watchman: false, testTimeout: ${PATIENCE_MS}, reporters: ['default', 'playhead/reporter'] }`,
    )
    // Loaded in the sandbox of the tests, as jest loads their other modules.
    await writeFile(
      join(project, 'playhead.config.js'),
      `module.exports = { agents: { finder: { run: ({ text }) => globalThis.lookUp(text) } } }`,
    )
    const outcome = await runProject(project, [join(modules, 'jest/bin/jest.js')])
    expect(describeSessions(outcome)).toEqual(
      [
        ...inEveryRunner,
        'fail 1 in a suite > works at the second try',
        'success 1 each c_4',
        'success 1 each c_5',
        'success 1 runs an agent of the config',
        'success 2 in a suite > works at the second try',
      ].toSorted(),
    )
    expectWhatAllHave(outcome, 'suite.jest.test.cjs')
    await expectReport(project, outcome, 'suite.jest.test.cjs')
  })

  test('jest records calls of clients that were built before, in every file', async () => {
    const linked = { '@jest/globals': join(modules, '@jest/globals') }
    const source = await readFile(join(suite, 'calls.jest.test.cjs'), 'utf8')
    const project = await makeProject('jest-calls', linked, [])
    for (const name of ['first', 'second']) await writeFile(join(project, `${name}.test.cjs`), source)
    await writeFile(
      join(project, 'jest.config.cjs'),
      `module.exports = { testMatch: ['**/*.test.cjs'], moduleFileExtensions: ['cjs', 'js', 'json'], transform: {}, watchman: false, testTimeout: ${PATIENCE_MS} }`,
    )
    const { sessions, output, exitCode } = await runProject(project, [
      join(modules, 'jest/bin/jest.js'),
      '--runInBand',
    ])
    expect([exitCode, output]).toEqual([0, output])
    expect(sessions.map(({ endState, llmCallCount }) => [endState, llmCallCount])).toEqual([
      ['success', 2],
      ['success', 2],
    ])
  })

  test('in node:test', async () => {
    const project = await makeProject('node-test', {}, ['suite.node.test.mjs'])
    const outcome = await runProject(project, ['--test', 'suite.node.test.mjs'])
    expect(describeSessions(outcome)).toEqual(
      [
        ...inEveryRunner,
        'success 1 at the same time > as c_a',
        'success 1 at the same time > as c_b',
        'success 1 at the same time > as c_c',
      ].toSorted(),
    )
    expectWhatAllHave(outcome, 'suite.node.test.mjs')
    const report = await runProject(project, ['node_modules/playhead/dist/cli.mjs', 'report'])
    expect(report.exitCode).toBe(0)
    await expectReport(project, { ...outcome, output: report.output }, 'suite.node.test.mjs')
  })
})

test('in watch mode, each run has its own sessions and report', async () => {
  const project = await makeProject('watched', { vitest: join(modules, 'vitest') }, [])
  const file = join(project, 'watched.test.mjs')
  const source = `import * as playhead from 'playhead'
import { expect, test } from 'playhead/vitest'
const act = playhead.recordAction('act', async (round) => round)
for (const name of ['one', 'two', 'three'])
  test(name, async ({ session }) => {
    await act(ROUND)
    expect(session).toHaveCalled('act', { args: [ROUND], times: 1 })
  })
test('four', () => {
  expect(process.listenerCount('beforeExit')).toBe(1)
})
`
  await writeFile(file, source.replaceAll('ROUND', '1'))
  const args = [
    join(modules, 'vitest/vitest.mjs'),
    '--watch',
    '--reporter=default',
    '--reporter=playhead/reporter',
  ]
  const env = {
    ...process.env,
    VITEST: '',
    NO_COLOR: '1',
    PLAYHEAD_RUN_ID: '',
    PLAYHEAD_RUN_DIR: '',
    GITHUB_ACTIONS: '',
    CI: '',
  }
  const child = spawn(process.execPath, [...args, '--maxWorkers=1', '--isolate=false'], {
    cwd: project,
    env,
  })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const reports = () => output.match(/Playhead: 4 tests: 4 passed; 4 sessions/g)?.length ?? 0
  try {
    await expect.poll(reports).toBe(1)
    await writeFile(file, source.replaceAll('ROUND', '2'))
    await expect.poll(reports).toBe(2)
  } finally {
    child.kill()
  }
  const runs = await readdir(join(project, '.playhead'))
  const folders = runs.filter((name) => name !== '.gitignore')
  expect(folders).toHaveLength(2)
  for (const folder of folders) {
    const names = await readdir(join(project, '.playhead', folder))
    expect(names.filter((name) => /s_[0-9a-f]{8}\.jsonl$/.test(name))).toHaveLength(4)
  }
})
