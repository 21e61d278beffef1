import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { appendFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import type { SessionSummary } from '@playhead/model'
import type { Job } from '../../../server/src/api/schemas/dev.ts'
import { hex, tracesPayload } from '../../../server/test/otlp.ts'
import { startTestServer, type TestServer } from '../../../server/test/test-server.ts'
import { startPlayhead } from '../../src/cli/test/run-playhead.ts'
import { makeProject } from './project.ts'

const files = {
  'agent.ts': `
import { spawn } from 'node:child_process'
import { recordAction, withSession } from 'playhead'

const extract = recordAction({ name: 'extract_customer_id', effect: 'read' }, (_text: string): string | null => null)
const fetchCustomer = recordAction({ name: 'fetch_customer', effect: 'read', parameters: ['id'] }, async (id: string | null) => {
  if (id === null) throw new Error('customer_id cannot be null')
  return { id, plan: 'pro' }
})
const mail = recordAction({ name: 'send_mail', effect: 'write' }, async (_id: string) => console.log('MAILED'))
const refund = recordAction({ name: 'issue_refund', effect: 'write' }, async (_id: string) => {
  console.log('REFUNDED')
  return 'refunded'
})

export const runSupport = (text: string) =>
  withSession({ name: 'support', input: text }, async () => {
    const customer = await fetchCustomer(extract(text))
    await mail(customer.id)
    return refund(customer.id)
  })

/** Never ends, and leaves processes behind: one in its group, and one that has left it. */
export const runStuck = (isLive: boolean) =>
  withSession({ name: 'stuck' }, async () => {
    extract('x')
    if (!isLive) return
    const near = spawn('sleep', ['600'])
    const far = spawn('sh', ['-c', 'sleep 600 & sleep 600'], { detached: true, stdio: 'ignore' })
    process.on('SIGTERM', () => {})
    console.log('PIDS ' + [process.pid, near.pid, far.pid].join(' '))
    await new Promise(() => setInterval(() => {}, 1000))
  })
`,
  'playhead.config.ts': `
import { defineConfig } from 'playhead'
import { runStuck, runSupport } from './agent.ts'
export default defineConfig({
  agents: {
    support: { run: (input) => runSupport(input.text), stubs: { issue_refund: () => 'stubbed' } },
    stuck: { run: () => runStuck(true) },
  },
})
`,
  'record.ts': `
import { init, shutdown } from 'playhead'
import { runStuck, runSupport } from './agent.ts'
init()
await runSupport('I was charged twice').catch(() => {})
await runStuck(false)
await shutdown()
`,
}

let server: TestServer
let project: Awaited<ReturnType<typeof makeProject>>
let dev: Awaited<ReturnType<typeof startDev>>

beforeAll(async () => {
  server = await startTestServer()
  project = await makeProject(files)
  await promisify(execFile)(process.execPath, ['--conditions=playhead-source', 'record.ts'], {
    cwd: project.folder,
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      PLAYHEAD_ENDPOINT: server.url,
      PLAYHEAD_SPOOL: 'off',
    },
  })
  dev = await startDev('--allow-writes', 'send_mail')
})
afterAll(async () => {
  dev.child.kill('SIGKILL')
  await server.stop()
  await project.remove()
})

/** `playhead dev` in the project, and a browser that is paired with it. */
async function startDev(...args: string[]) {
  const child = startPlayhead(['dev', ...args], { endpoint: server.url, folder: project.folder })
  let output = ''
  for (const stream of [child.stdout!, child.stderr!])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text))
  const waitFor = async (pattern: RegExp) => {
    await vi.waitFor(
      () => {
        if (child.exitCode === null) expect(output).toMatch(pattern)
      },
      { timeout: 60_000 },
    )
    expect(output).toMatch(pattern)
    return pattern.exec(output)!
  }
  const pair = async () => {
    const [, code] = await waitFor(/Pair a browser: \S+\/pair#(\S+)/)
    const response = await server.request('/api/dev/pair', { json: { code } })
    return { 'x-playhead-pairing': ((await response.json()) as { token: string }).token }
  }
  const headers = await pair()
  const submit = async (job: object) => {
    const response = await server.request('/api/dev/jobs', { json: job, headers })
    expect(response.status).toBe(202)
    return (await response.json()) as Job
  }
  return {
    child,
    output: () => output,
    waitFor,
    submit,
    cancel: (jobId: string) => server.request(`/api/dev/jobs/${jobId}`, { method: 'DELETE', headers }),
    /** Waits until a job has ended. */
    async ended(jobId: string): Promise<Job> {
      const read = async () => {
        const response = await server.request('/api/dev', { headers })
        const { jobs } = (await response.json()) as { jobs: Job[] }
        return jobs.find((job) => job.jobId === jobId)!
      }
      await expect.poll(async () => (await read()).state, { interval: 100 }).toMatch(/refused|finished/)
      return read()
    },
  }
}

async function recorded(name: string, stepName: string) {
  const [session] = await server.sessions(`name=${name}&reruns=exclude`)
  const { steps } = await server.session(session!.id)
  const step = steps.find((one) => one.tool?.name === stepName)!
  return { sessionId: session!.id, stepId: step.id }
}

const childrenOf = (id: string): Promise<SessionSummary[]> => server.sessions(`parent=${id}`)

test('a job of a paired browser forks the session, and runs once however often it is sent', async () => {
  const job = {
    jobId: randomUUID(),
    ...(await recorded('support', 'extract_customer_id')),
    edit: { result: 'c_42' },
  }

  await Promise.all([dev.submit(job), dev.submit(job)])
  const ended = await dev.ended(job.jobId)
  await dev.submit(job)

  const children = await childrenOf(job.sessionId)
  expect(children).toMatchObject([
    {
      name: 'support',
      endState: 'success',
      parentId: job.sessionId,
      parentStepId: job.stepId,
      lane: 'fork',
      edit: { result: 'c_42' },
    },
  ])
  const { id } = children[0]!
  expect(ended).toMatchObject({
    state: 'finished',
    sessionIds: [id],
    lines: [{ session: id, lane: 'fork', endState: 'success', parentEndState: 'fail' }],
  })
  expect(dev.output()).toContain(
    `▸ support from step 2 (extract_customer_id) of s_${job.sessionId.slice(0, 8)}, with result = "c_42": 1 run`,
  )
  expect([dev.output().includes('MAILED'), dev.output().includes('REFUNDED')]).toEqual([true, false])
})

test('a coding agent that may fork does so over stdio, and stdout stays the protocol', async () => {
  const child = startPlayhead(['mcp', '--allow-fork'], { endpoint: server.url, folder: project.folder })
  onTestFinished(() => void child.kill('SIGKILL'))
  let output = ''
  child.stdout!.setEncoding('utf8').on('data', (text: string) => (output += text))
  child.stderr!.resume()
  const ask = async (id: number, method: string, params = {}) => {
    child.stdin!.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
    const answer = () => output.split('\n').find((line) => line.includes(`"id":${id}`))
    await expect.poll(answer, { timeout: 60_000 }).toBeDefined()
    return JSON.parse(answer()!) as { result: { tools: { name: string }[]; content: { text: string }[] } }
  }
  const { tools } = (await ask(1, 'tools/list')).result
  expect(tools.at(-1)?.name).toBe('fork_session')
  const edit = { result: 'c_9' }
  const forked = await ask(2, 'tools/call', {
    name: 'fork_session',
    arguments: { session: 'name:support reruns:exclude', step: 2, edit },
  })
  expect(forked.result.content[0]?.text).toMatch(
    /at step 2: finished\.[\s\S]*returned "c_9" instead of null; .*send_mail/,
  )
  expect(() =>
    output
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown),
  ).not.toThrow()
  child.stdin!.end()
  await once(child, 'exit')
})

test('several times, it is compared with as many runs without the edit', async () => {
  const job = {
    jobId: randomUUID(),
    ...(await recorded('support', 'extract_customer_id')),
    edit: { result: 'c_7' },
    times: 2,
  }

  await dev.submit(job)
  const { lines, sessionIds, sentence } = await dev.ended(job.jobId)

  expect([lines.length, new Set(sessionIds).size]).toEqual([4, 4])
  expect(sentence).toMatch(/^With result = "c_7": 2 of 2.* pass\. Unchanged: 0 of 2.* pass\. p = 0\.167/)
})

test('an agent that is not in the config, and a config that is broken, are refused with the reason', async () => {
  const [traceId, spanId] = [hex(16), hex(8)]
  const startMs = Date.now()
  const attributes = {
    'playhead.session.name': 'other',
    'playhead.step.kind': 'action',
    'gen_ai.tool.name': 'look',
  }
  await server.postTraces(
    tracesPayload([{ traceId, spanId, name: 'look', startMs, endMs: startMs, attributes }]),
  )
  const stranger = { jobId: randomUUID(), sessionId: traceId, stepId: spanId }
  await dev.submit(stranger)
  expect(await dev.ended(stranger.jobId)).toMatchObject({
    state: 'refused',
    sessionIds: [],
    sentence: expect.stringContaining('makes sessions named "other"') as string,
  })

  const file = join(project.folder, 'playhead.config.ts')
  await appendFile(file, "\nthrow new Error('no database')\n")
  onTestFinished(() => writeFile(file, files['playhead.config.ts']))
  const job = { jobId: randomUUID(), ...(await recorded('support', 'extract_customer_id')) }
  await dev.submit(job)
  expect(await dev.ended(job.jobId)).toMatchObject({
    state: 'refused',
    sentence: expect.stringContaining('no database') as string,
  })
})

const isRunning = (pid: number) => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

test.runIf(process.platform === 'linux').each(['cancel', 'SIGINT'] as const)(
  '%s ends a run and everything that it started',
  async (how) => {
    const job = { jobId: randomUUID(), ...(await recorded('stuck', 'extract_customer_id')) }
    await dev.submit(job)
    const count = how === 'cancel' ? 1 : 2
    await dev.waitFor(new RegExp(`(?:PIDS[^]*){${count}}`))
    const list = [...dev.output().matchAll(/PIDS (.*)/g)].at(-1)![1]!
    const pids = list.split(' ').map(Number)
    expect(pids.map(isRunning)).toEqual([true, true, true])

    if (how === 'cancel') await dev.cancel(job.jobId)
    else dev.child.kill('SIGINT')

    const { state, sentence } = await dev.ended(job.jobId)
    expect([state, sentence]).toEqual([
      'finished',
      how === 'cancel' ? 'It was canceled.' : 'The terminal with `playhead dev` was ended.',
    ])
    await expect.poll(() => pids.map(isRunning)).toEqual([false, false, false])
    if (how === 'SIGINT' && dev.child.exitCode === null) await once(dev.child, 'exit')
    expect(dev.child.exitCode).toBe(how === 'SIGINT' ? 0 : null)
  },
)
