import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type { Session } from '@playhead/model'
import { startScriptedModel, type ScriptedModel } from '@playhead/scripted-model'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { playhead } from '../../packages/playhead/src/cli/test/run-playhead.ts'
import { startTestServer, type TestServer } from '../../packages/server/test/test-server.ts'
import { answerAsSupport } from './src/model-script.ts'

const folder = fileURLToPath(new URL('.', import.meta.url))
const FAULT = { SUPPORT_AGENT_FAULT: 'customer_id' }

let server: TestServer
let model: ScriptedModel
let failed: Session
let refund: Session

beforeAll(async () => {
  server = await startTestServer()
  model = await startScriptedModel(answerAsSupport)
  await runAgent('I was charged twice for my subscription', {})
  await runAgent('I want a refund for INV-2292, account c_42', {})
  await runAgent('I was charged twice for my subscription', FAULT)
  const sessions = await server.sessions()
  failed = await server.session(sessions.find(({ endState }) => endState === 'fail')!.id)
  refund = await server.session(sessions.find(({ tools }) => tools.includes('issue_refund'))!.id)
})
afterAll(async () => {
  await model?.stop()
  await server?.stop()
})

function environment(): Record<string, string> {
  return { OPENAI_API_KEY: 'none', OPENAI_BASE_URL: `${model.url}/v1`, PLAYHEAD_SPOOL: 'off' }
}

async function runAgent(message: string, change: Record<string, string>): Promise<void> {
  const child = spawn(process.execPath, ['--conditions=playhead-source', 'src/main.ts', message], {
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      PLAYHEAD_ENDPOINT: server.url,
      ...environment(),
      ...change,
    },
    stdio: 'ignore',
  })
  await once(child, 'close')
}

function run(args: string[], change: Record<string, string> = {}) {
  const options = { endpoint: server.url, folder, environment: { ...environment(), ...change } }
  return playhead(args, options)
}

const asked = () => model.requests.length

test('five with the right id against five without: 5 of 5, 0 of 5, and the odds of chance', async () => {
  const args = ['fork', failed.session.id, '--at', '5', '--result', '"c_42"', '--times', '5']
  const { stdout, stderr, exitCode } = await run(args, FAULT)
  expect(stderr).toBe(`Forking s_${failed.session.id.slice(0, 8)} at step 5 extract_customer_id: 10 runs\n`)
  expect(stdout).toContain('With result = "c_42": 5 of 5 (100%, between 57% and 100%) pass.')
  expect(stdout).toContain('Unchanged: 0 of 5 (0%, between 0% and 43%) pass.')
  expect(stdout).toContain("p = 0.004 (Fisher's exact test)")
  expect(stdout).toContain(`Compare: ${server.url}/compare?a=${failed.session.id}&b=`)
  expect(exitCode).toBe(1)
  const response = await server.request(`/api/sessions/${failed.session.id}/reruns`)
  const step = failed.steps[4]!
  expect(await response.json()).toMatchObject({
    evidence: [
      {
        stepId: step.id,
        edit: { result: 'c_42' },
        passed: 5,
        total: 5,
        control: { passed: 0, total: 5 },
        p: expect.closeTo(1 / 252) as number,
      },
    ],
  })
})

test('without a key, the config starts a scripted model; what comes before the fork needs none', async () => {
  const args = ['fork', failed.session.id, '--at', '5', '--result', '"c_42"']
  const options = { endpoint: server.url, folder, environment: { PLAYHEAD_SPOOL: 'off', ...FAULT } }
  const { stdout } = await playhead(args, options)
  expect(stdout).toMatch(/^Calls +2 from the tape, 2 live, 1 stubbed, \$0\.00\d+ spent$/m)
  expect(stdout).toMatch(/^End state +Success, recorded was Fail$/m)
  expect(stdout).not.toContain('Not asked for')
})

test('one fork is a session of its own: from the tape, then with the value, then live', async () => {
  const before = asked()
  const { stdout } = await run(['fork', failed.session.id, '--at', '5', '--result', 'c_42', '--json'], FAULT)
  const line = JSON.parse(stdout) as Record<string, string>
  expect(line).toMatchObject({
    parent: failed.session.id,
    lane: 'fork',
    arm: 'edit',
    endState: 'success',
    parentEndState: 'fail',
    calls: { taped: 2, live: 2, stubbed: 1 },
    misses: [],
  })
  // The reply to the customer; what came before was recorded.
  expect(asked() - before).toBe(1)
  const { session, steps } = await server.session(line.session!)
  expect(session).toMatchObject({
    parentId: failed.session.id,
    parentStepId: failed.steps[4]!.id,
    lane: 'fork',
    edit: { result: 'c_42' },
  })
  expect(steps.map(({ name, source = '' }) => `${name} ${source}`.trim())).toEqual([
    'support',
    'gpt-4o tape',
    'classify_intent',
    'gpt-4o tape',
    'extract_customer_id stub',
    'fetch_customer_data live',
    'write_reply',
    'gpt-4o live',
    'session_complete',
  ])
})

test('a write after the fork is not made, and looks so', async () => {
  const number = refund.steps.findIndex(({ name }) => name === 'fetch_customer_data') + 1
  const { stdout } = await run(['fork', refund.session.id, '--at', String(number)])
  expect(stdout).toContain('issue_refund was not run: its nearest recorded result stood in.')
  const id = /sessions\/([0-9a-f]{32})/.exec(stdout)![1]!
  const { session, steps } = await server.session(id)
  expect(session.endState).toBe('success')
  expect(steps.find(({ name }) => name === 'issue_refund')).toMatchObject({
    source: 'stub',
    tool: { result: { success: true, refundId: 're_2292' } },
  })
})

const where = ['rerun', '--where', 'status:fail', '--last', '20', '--live', 'model', '--model', 'gpt-4o-mini']

test('failed sessions with another model: how many would pass now, what it cost, where each diverges', async () => {
  const before = asked()
  const { stdout, stderr } = await run([...where, '--budget', '1usd', '--times', '2'])
  const made = model.requests.slice(before)
  expect(made.map((request) => request.model)).toEqual(Array.from({ length: 6 }, () => 'gpt-4o-mini'))
  expect(stderr).toContain(
    'Running 1 session again: live model, tools from the recording, gpt-4o-mini, 2 times, at most $1',
  )
  const [head, ...rows] = stdout.split('\n')
  expect(head).toMatch(/^RE-RUN +INPUT +WAS +NOW +LIVE +STUBBED +COST +FIRST DIVERGENCE$/)
  for (const row of rows.slice(0, 2))
    expect(row).toMatch(
      /^s_\w{8} +I was charged .+ Fail +Success +3 +0 +\$0\.00\d+ +step 6 find_account is extra/,
    )
  expect(stdout).toMatch(
    /^2 of 2 \(100%, between 34% and 100%\) would pass now; 0 passed when they were recorded\.$/m,
  )
  expect(stdout).toMatch(/^Cost: \$0\.00\d+ of a budget of \$1\.00\.$/m)
  expect(stdout).toContain('The session already differs from the recording with nothing live')
})

test('what could pass the budget is not asked', async () => {
  const before = asked()
  const { stdout, exitCode } = await run([...where, '--budget', '0.005usd', '--json'])
  expect(asked() - before).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({
    verdict: 'missed',
    calls: { live: 0 },
    costUsd: 0,
    reason: expect.stringMatching(
      /^A call to gpt-4o-mini was not made: it could cost up to \$0\.01, which is more/,
    ) as string,
  })
  expect(exitCode).toBe(1)
})

test('a session of the demo fails again by itself, and not without its fault', async () => {
  const program = `
    import * as playhead from 'playhead'
    import { runSupportAgent } from './src/run-support-agent.ts'
    playhead.init()
    await runSupportAgent('I was charged twice', { fault: 'customer_id' }).catch(() => {})
    console.log(playhead.getSession().id)
    await playhead.flush()`
  const child = spawn(
    process.execPath,
    ['--conditions=playhead-source', '--input-type=module', '-e', program],
    {
      cwd: folder,
      env: {
        PATH: process.env.PATH,
        NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
        PLAYHEAD_ENDPOINT: server.url,
        ...environment(),
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  const id = (await text(child.stdout)).trim()

  expect((await run(['rerun', id])).stdout).toContain('✓ No divergence')
  expect((await run(['rerun', id], { SUPPORT_AGENT_FAULT: 'none' })).stdout).toContain(
    'no action find_account',
  )
})

test('an edit that the step does not have is refused', async () => {
  expect(await run(['fork', failed.session.id, '--at', '5', '--system', 'Be brief.'])).toEqual({
    stdout: '',
    stderr: 'playhead: Step 5 (extract_customer_id) is an action, which has no system prompt to change.\n',
    exitCode: 2,
  })
})
