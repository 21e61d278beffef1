import { execFile, execFileSync } from 'node:child_process'
import { cp, mkdtemp, readFile, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readCassette } from '@playhead/model'
import { startScriptedModel, type ScriptedModel } from '@playhead/scripted-model'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { answerAsSupport } from '../../../../examples/support-agent/src/model-script.ts'
import { startTestServer, type TestServer } from '../../../server/test/test-server.ts'
import { playhead } from '../../src/cli/test/run-playhead.ts'

const root = join(import.meta.dirname, '../../../..')
const FAULT = { SUPPORT_AGENT_FAULT: 'customer_id' }
const INPUT = 'I was charged twice for my subscription'

let server: TestServer
let model: ScriptedModel
let folder: string

beforeAll(async () => {
  ;[server, model] = await Promise.all([startTestServer(), startScriptedModel(answerAsSupport)])
  folder = await mkdtemp(join(tmpdir(), 'playhead-to-test-'))
  for (const name of ['src', 'playhead.config.ts', 'package.json', 'vitest.config.ts'])
    await cp(join(root, 'examples/support-agent', name), join(folder, name), { recursive: true })
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  await Promise.all([runAgent(INPUT), runAgent(INPUT, FAULT), runAgent('I was billed twice', FAULT)])
})
afterAll(async () => {
  await Promise.all([server.stop(), model.stop()])
  await rm(folder, { recursive: true, force: true, maxRetries: 3 })
})

function environment(): Record<string, string> {
  return {
    OPENAI_API_KEY: 'none',
    OPENAI_BASE_URL: `${model.url}/v1`,
    PLAYHEAD_ENDPOINT: server.url,
    PLAYHEAD_SPOOL: 'off',
    NO_COLOR: '1',
  }
}

type Outcome = { output: string; code: number }

function run(command: string, args: string[], env: Record<string, string>): Promise<Outcome> {
  const { PATH, NODE_COMPILE_CACHE } = process.env
  return new Promise((resolve) => {
    execFile(
      command,
      args,
      {
        cwd: folder,
        env: { PATH, NODE_COMPILE_CACHE, NODE_OPTIONS: '--conditions=playhead-source', ...env },
      },
      (error, stdout, stderr) => resolve({ output: stdout + stderr, code: error === null ? 0 : 1 }),
    )
  })
}

async function runAgent(input: string, change: Record<string, string> = {}): Promise<void> {
  const code = `
    const playhead = await import('playhead')
    playhead.init({ serviceName: 'support' })
    const { runSupportAgent } = await import('./src/run-support-agent.ts')
    await runSupportAgent(${JSON.stringify(input)}).catch(() => {})
    await playhead.flush()`
  const { output, code: exitCode } = await run(process.execPath, ['--input-type=module', '-e', code], {
    ...environment(),
    ...change,
  })
  if (exitCode !== 0) throw new Error(output)
}

type Written = { test: string; cassette: string; joined: string | null; isPassed: boolean; output: string }

async function toTest(...args: string[]): Promise<Written & { stderr: string }> {
  const { stdout, stderr, exitCode } = await playhead(['to-test', ...args, '--json'], {
    folder,
    environment: environment(),
  })
  expect({ stderr, exitCode }).toEqual({ stderr, exitCode: 0 })
  return { ...(JSON.parse(stdout) as Written), stderr }
}

/** Without any network interface, where the system allows that. */
const offline = ((): string[] => {
  try {
    execFileSync('unshare', ['-rn', 'true'], { stdio: 'ignore' })
    return ['unshare', '-rn']
  } catch {
    return []
  }
})()

/** Runs a test as CI does: without model and server. */
function runInCi(file: string, change: Record<string, string> = {}): Promise<Outcome> {
  const [command, ...args] = [...offline, process.execPath, join(root, 'node_modules/vitest/vitest.mjs')]
  return run(command, [...args, 'run', '--testTimeout=60000', file], { CI: 'true', NO_COLOR: '1', ...change })
}

async function sessionOf(input: string, endState: string): Promise<string> {
  const sessions = await server.sessions()
  const found = sessions.find((session) => session.endState === endState && session.inputPreview === input)
  return found!.id
}

test(
  'a failure becomes a test: red with the bug, green with the fix, offline',
  { timeout: 240_000 },
  async () => {
    const [failed, passed] = [await sessionOf(INPUT, 'fail'), await sessionOf(INPUT, 'success')]
    const written = await toTest(failed, '--runner', 'vitest')
    expect(written).toMatchObject({
      test: 'test/i-was-charged-twice-for-my-subscription.test.ts',
      cassette:
        'test/__cassettes__/i-was-charged-twice-for-my-subscription.test.ts/support-I-was-charged-twice-for-my-subscription.jsonl',
      joined: passed,
      isPassed: true,
    })
    const text = await readFile(join(folder, written.test), 'utf8')
    expect(text.replaceAll(/\s+|,(?=\s*\))/g, ' ').replaceAll('"', "'")).toContain(
      `await runAgent('support', { text: '${INPUT}' }); expect(session).toHaveEffects([]); expect(session).toHaveNoErrors(); expect(nullArguments(session)).toEqual([]);`,
    )
    const before = model.requests.length
    const green = await runInCi(written.test)
    expect(green.output).toContain('1 passed')
    const red = await runInCi(written.test, FAULT)
    expect(red.code).toBe(1)
    expect(red.output).toContain('ValueError: customer_id cannot be null')
    expect(model.requests.length).toBe(before)
  },
)

test(
  'without a session that passed, one live run may record what is missing',
  { timeout: 240_000 },
  async () => {
    const failed = await sessionOf('I was billed twice', 'fail')
    const alone = await toTest(failed, '--runner', 'node-test', '--out', join(folder, 'test/billed.test.ts'))
    expect(alone).toMatchObject({ joined: null, isPassed: false })
    expect(alone.stderr).toContain(
      'No session of the same input has passed, so the test cannot show what should happen. With --fill, what is missing is recorded in one live run.',
    )
    expect(alone.output).toContain('The tape has no action find_account')
    const filled = await toTest(
      failed,
      '--runner',
      'node-test',
      '--out',
      join(folder, 'test/billed.test.ts'),
      '--force',
      '--fill',
    )
    expect(filled).toMatchObject({ isPassed: true })
    expect(filled.output).toMatch(/\.jsonl added: 1 model call and 3 actions, for \$0\.00\d+\./)
    const { entries } = readCassette(await readFile(join(folder, filled.cassette), 'utf8'))
    expect(entries.flatMap((entry) => (entry.kind === 'action' ? [entry.name] : []))).toEqual([
      'classify_intent',
      'extract_customer_id',
      'fetch_customer_data',
      'find_account',
      'fetch_customer_data',
      'write_reply',
    ])
  },
)

test('a test that is there is not replaced', async () => {
  const { stderr, exitCode } = await playhead(['to-test', 'last', '--out', join(folder, 'src/main.ts')], {
    folder,
    environment: environment(),
  })
  expect({ stderr, exitCode }).toEqual({
    stderr: 'playhead: src/main.ts is there already. Name another file with --out, or pass --force.\n',
    exitCode: 1,
  })
})
