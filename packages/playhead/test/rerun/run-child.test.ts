import { symlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Session } from '@playhead/model'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { RerunLine, RunSpec } from '../../src/rerun/messages.ts'
import { runInChild, type RunEvent } from '../../src/rerun/run-child.ts'
import { startOtlpSink, type OtlpSink } from '../otlp-sink.ts'
import { actionStep, makeProject, SESSION_ID, sessionOf } from './project.ts'

let project: Awaited<ReturnType<typeof makeProject>>
let sink: OtlpSink

beforeAll(async () => {
  sink = await startOtlpSink()
  project = await makeProject({
    'playhead.config.ts': `
import { spawn } from 'node:child_process'
import { Worker } from 'node:worker_threads'
import { init, recordAction, startSession, withSession, defineConfig } from 'playhead'

const find = recordAction('find', async (id: string) => { throw new Error('must not run') })
const inSession = (name: string, body: () => Promise<unknown>) => withSession({ name }, body)

export default defineConfig({
  allowSpawn: ['sleep'],
  agents: {
    plain: { run: ({ text }) => inSession('plain', () => find(text)) },
    threads: {
      run: () => inSession('threads', () => new Promise((resolve) => {
        const code = "import('playhead').then(async (playhead) => { playhead.init(); playhead.withSession({ name: 'in a thread' }, () => 1); await playhead.flush() })"
        new Worker(code, { eval: true }).once('exit', resolve)
      })),
    },
    streams: {
      run: async function* ({ text }) {
        yield 'Looking for ' + text
        yield await inSession('streams', () => find(text))
        process.stdout.write('without a line break')
      },
    },
    bare: { run: ({ text }) => find(text) },
    two: {
      run: async ({ text }) => {
        await inSession('first', () => find(text))
        await inSession('second', async () => 1)
      },
    },
    exits: {
      run: ({ text }) => inSession('exits', async () => {
        await find(text)
        process.exit(3)
      }),
    },
    crashes: {
      run: () => inSession('crashes', () => new Promise(() => setTimeout(() => { throw new Error('late') }))),
    },
    throws: { run: () => { throw new Error('no key') } },
    stuck: { run: () => inSession('stuck', () => new Promise(() => {})) },
    hangs: {
      run: (_input, { signal }) => inSession('hangs', async () => {
        const child = spawn('sleep', ['1000'])
        console.log('grandchild ' + child.pid + ' of ' + process.pid)
        signal.addEventListener('abort', () => console.log('told to stop'))
        await new Promise(() => setInterval(() => {}, 1000))
      }),
    },
    insists: {
      run: () => inSession('insists', async () => {
        for (;;) {
          await find('c_99').catch(() => {})
          await new Promise((resolve) => setTimeout(resolve, 100))
        }
      }),
    },
    elsewhere: {
      env: { PLAN: 'pro' },
      run: async ({ text }) => {
        init({ endpoint: 'http://127.0.0.1:9/production', apiKey: 'ph_production' })
        startSession({ name: 'elsewhere', tags: [process.env.PLAN!], input: { text } })
        await find(text)
      },
    },
  },
})
`,
  })
})
afterAll(async () => {
  await sink.stop()
  await project.remove()
})

function parent(agent: string): Session {
  const session = sessionOf(agent, actionStep('find', { id: 'c_42' }, { plan: 'pro' }))
  session.steps[0]!.attributes = { 'playhead.session.input': '"c_42"' }
  return session
}

function specOf(agent: string, change: Partial<RunSpec> = {}): RunSpec {
  return {
    configFile: `${project.folder}/playhead.config.ts`,
    agent,
    parent: parent(agent),
    tapes: [],
    lane: 'tape',
    onMiss: 'fail',
    allowWrites: [],
    ...change,
  }
}

async function run(
  agent: string,
  change: Partial<RunSpec> = {},
): Promise<RerunLine & { events: RunEvent[] }> {
  const events: RunEvent[] = []
  const line = await runInChild(specOf(agent, change), { onEvent: (event) => events.push(event) })
  return { ...line, events }
}

test('a run that does the same is the same, and nothing is sent without an endpoint', async () => {
  const { events, session, ...line } = await run('plain')
  expect(line).toEqual({
    parent: SESSION_ID,
    lane: 'tape',
    verdict: 'same',
    endState: 'success',
    parentEndState: 'success',
    calls: { taped: 1, live: 0, stubbed: 0 },
    divergence: null,
    misses: [],
    costUsd: 0,
    unused: [],
    mapped: { uuid: 0, time: 0, id: 0 },
    otherSessions: [],
  })
  expect(session).toMatch(/^[0-9a-f]{32}$/)
  expect(events).toEqual([{ kind: 'started', sessionId: session }])
})

test('an agent that streams its answer is read to its end, and so is what it prints', async () => {
  const { verdict, events } = await run('streams')
  expect([verdict, events.at(-1)]).toEqual(['same', { kind: 'output', text: 'without a line break\n' }])
})

test('steps without a session get one with the name of the agent', async () => {
  expect(await run('bare')).toMatchObject({ verdict: 'same', endState: 'success', otherSessions: [] })
})

test('an action that was recorded on its own is run on its own', async () => {
  const session = parent('bare')
  session.steps = session.steps.slice(1).map((step) => ({ ...step, parentId: null }))
  expect(await run('bare', { parent: session })).toMatchObject({ verdict: 'same' })
})

test('the first session is the re-run; further ones are listed and belong to it', async () => {
  const before = sink.spans().length
  const line = await run('two', { endpoint: sink.url })
  expect(line).toMatchObject({ verdict: 'same', otherSessions: [expect.stringMatching(/^[0-9a-f]{32}$/)] })
  const roots = sink
    .spans()
    .slice(before)
    .filter(({ parentSpanId, isEnded }) => parentSpanId === undefined && isEnded)
  expect(
    roots.map(({ name, traceId, attributes }) => [name, traceId, attributes['playhead.rerun.parent']]),
  ).toEqual([
    ['first', line.session, SESSION_ID],
    ['second', line.otherSessions![0], line.session],
  ])
})

test('what a worker thread of the agent records is no session of its own either', async () => {
  const before = sink.spans().length
  const { session } = await run('threads', { endpoint: sink.url })
  const root = sink
    .spans()
    .slice(before)
    .find(({ name, isEnded }) => name === 'in a thread' && isEnded)!
  expect(root.traceId).not.toBe(session)
  expect(root.attributes).toMatchObject({
    'playhead.rerun.parent': SESSION_ID,
    'playhead.rerun.lane': 'tape',
  })
})

test("the run's server, key and project win over the agent's own, and the root says what it is", async () => {
  const before = sink.requests.length
  const fork = { stepId: '1'.repeat(16), edit: { result: { plan: 'team' } } }
  const change = { endpoint: sink.url, apiKey: 'ph_mine', project: 'shop', fork }
  const line = await run('elsewhere', change)
  expect(line).toMatchObject({ verdict: 'diverged', endState: 'indeterminate', calls: { taped: 1 } })
  const requests = sink.requests.slice(before)
  expect(requests[0]!.headers).toMatchObject({
    authorization: 'Bearer ph_mine',
    'x-playhead-project': 'shop',
  })
  const root = requests
    .flatMap(({ spans }) => spans)
    .find(({ name, isEnded }) => name === 'elsewhere' && isEnded)!
  expect(root.attributes).toMatchObject({
    'playhead.session.input': '{"text":"c_42"}',
    'playhead.session.tags': { values: [{ stringValue: 'pro' }, { stringValue: 'rerun' }] },
    'playhead.rerun.parent': SESSION_ID,
    'playhead.rerun.lane': 'tape',
    'playhead.rerun.step': '1'.repeat(16),
    'playhead.rerun.edit': '{"result":{"plan":"team"}}',
  })
})

test('an agent that ends its process is reported with what it did, and delivered to a slow server too', async () => {
  sink.next = [{ acceptAfterMs: 1_500 }]
  const line = await run('exits', { endpoint: sink.url })
  expect(line).toMatchObject({
    verdict: 'diverged',
    endState: 'indeterminate',
    calls: { taped: 1 },
    reason: 'The agent ended its process with process.exit(3).',
  })
  expect(sink.spans().filter(({ traceId, isEnded }) => traceId === line.session && isEnded)).toHaveLength(2)
})

test.each([
  ['throws where nobody catches it', 'crashes', { endState: 'fail', reason: 'The agent threw: Error: late' }],
  [
    'throws at once',
    'throws',
    { session: null, endState: null, reason: 'The agent recorded nothing. The agent threw: Error: no key' },
  ],
  [
    'waits forever',
    'stuck',
    {
      endState: 'indeterminate',
      reason: 'The agent waited for something that never happens: nothing was left that could wake it.',
    },
  ],
])('an agent that %s is reported', async (_how, agent, expected) => {
  expect(await run(agent)).toMatchObject({ verdict: 'diverged', ...expected })
})

test('a miss is the verdict, with the step and the field', async () => {
  const other = sessionOf('plain', actionStep('find', { id: 'c_77' }, {}))
  other.steps[0]!.attributes = { 'playhead.session.input': '"c_42"' }
  const line = await run('plain', { parent: other })
  expect(line).toMatchObject({
    verdict: 'missed',
    endState: 'fail',
    misses: [
      {
        step: 2,
        message: null,
        field: 'argument id',
        sentence:
          'find was called with other arguments than recorded (step 2 find): argument id is "c_42", recorded was "c_77".',
      },
    ],
    unused: [{ step: 2, name: 'find' }],
  })
})

test('an agent that asks again and again after a miss is stopped', async () => {
  const { misses, verdict, reason } = await run('insists')
  expect({ verdict, reason }).toEqual({ verdict: 'missed', reason: misses[0]!.sentence })
})

test('a run that takes too long is stopped', async () => {
  expect(await runInChild(specOf('hangs'), { timeoutMs: 1500 })).toMatchObject({
    verdict: 'diverged',
    reason: 'The run took too long and was stopped.',
  })
})

test('stopping a run ends everything that it started', async () => {
  const stop = new AbortController()
  let output = ''
  const onEvent = (event: RunEvent) => {
    if (event.kind !== 'output') return
    output += event.text
    if (event.text.startsWith('grandchild')) stop.abort(new Error('stopped by me'))
  }
  await expect(runInChild(specOf('hangs'), { signal: stop.signal, onEvent })).rejects.toThrow('stopped by me')
  expect(output).toContain('told to stop')
  const pids = [...output.matchAll(/grandchild (\d+) of (\d+)/g)].flatMap(([, one, other]) => [one, other])
  expect(pids).toHaveLength(2)
  for (const pid of pids) await expect.poll(() => isRunning(Number(pid))).toBe(false)
})

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

test('an agent that needs tsx runs behind the wall, with the compiler that tsx starts', async () => {
  const { folder, remove } = await makeProject({
    'playhead.config.ts': `
import { defineConfig } from 'playhead'
import { answer } from './agent'
export default defineConfig({ agents: { plain: { run: ({ text }) => answer(text) } } })`,
    'agent.ts': `
import { recordAction, withSession } from 'playhead'
enum Plan { pro = 'pro' }
const find = recordAction('find', async (id: string): Promise<{ plan: Plan }> => { throw new Error('must not run') })
export const answer = (id: string) => withSession({ name: 'plain' }, async () => {
  const { plan } = await find(id)
  if (plan !== Plan.pro) throw new Error('another plan')
})`,
  })
  onTestFinished(remove)
  await symlink(dirname(fileURLToPath(import.meta.resolve('tsx/package.json'))), `${folder}/node_modules/tsx`)
  const line = await runInChild(specOf('plain', { configFile: `${folder}/playhead.config.ts` }))
  expect(line).toMatchObject({ verdict: 'same', misses: [], calls: { taped: 1 } })
})
