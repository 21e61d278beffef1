import { execFile, spawnSync } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { alignSessions, parseRecordingText, toRecording, type Session, type Step } from '@playhead/model'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestServer, type TestServer } from '../packages/server/test/test-server.ts'
import { runProgram } from './run-example.ts'

const examples = [
  'openai',
  'anthropic',
  'vercel-ai',
  'langchain',
  'openai-agents',
  'support-agent',
  'existing-otel',
]
const cli = fileURLToPath(new URL('../packages/playhead/src/cli/main.ts', import.meta.url))

/** No interface at all, not even loopback. Only Linux has it, and not everywhere. */
const hasUnshare = spawnSync('unshare', ['--map-root-user', '--net', 'true']).status === 0

let server: TestServer
let folder: string
/** By example. */
const sessions = new Map<string, Session>()

beforeAll(async () => {
  server = await startTestServer()
  folder = await mkdtemp(join(tmpdir(), 'playhead-reruns-'))
})
afterAll(async () => {
  await server?.stop()
  await rm(folder, { recursive: true, force: true })
})

type Outcome = { exitCode: number; stdout: string; stderr: string }

function rerun(
  example: string,
  args: readonly string[],
  {
    isWithoutNetwork = false,
    environment = {},
  }: { isWithoutNetwork?: boolean; environment?: Record<string, string> } = {},
): Promise<Outcome> {
  const node = [process.execPath, '--conditions=playhead-source', cli, 'rerun', ...args]
  const unshare = isWithoutNetwork && hasUnshare ? ['unshare', '--map-root-user', '--net'] : []
  const [program, ...rest] = [...unshare, ...node]
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
    ...environment,
  }
  const cwd = fileURLToPath(new URL(example, import.meta.url))
  return new Promise((resolve) => {
    execFile(program!, rest, { cwd, env }, (error, stdout, stderr) =>
      resolve({ exitCode: error === null ? 0 : Number(error.code), stdout, stderr }),
    )
  })
}

/** Runs an example as `npm start` does, and returns its session. Its model is gone afterwards. */
async function record(example: string, environment: Record<string, string> = {}): Promise<Session> {
  const known = new Set((await server.sessions()).map(({ id }) => id))
  const main = example === 'support-agent' ? 'support-agent/src/main.ts' : `${example}/main.ts`
  await runProgram(main, { PLAYHEAD_ENDPOINT: server.url, ...environment })
  const recorded = (await server.sessions()).find(({ id }) => !known.has(id))
  if (recorded === undefined) throw new Error(`${example} recorded no session`)
  return server.session(recorded.id)
}

/** What the agent did, without what differs from run to run. */
function whatItDid({ session, steps }: Session): unknown {
  const said = ({ messages }: Step) => messages?.map(({ role, parts }) => [role, parts.map(withoutId)])
  return {
    endState: session.endState,
    cost: session.cost,
    steps: steps.map((step) => [
      step.kind,
      step.name,
      step.status,
      step.tool?.arguments,
      step.tool?.result,
      said(step),
    ]),
  }
}

function withoutId(part: object): object {
  return { ...part, id: undefined }
}

describe.each(examples)('%s', (example) => {
  test('does the same without a model and without a network', async () => {
    const session = await record(example)
    sessions.set(example, session)
    const file = join(folder, `${example}.json`)
    await writeFile(file, JSON.stringify(toRecording(session, '2026-11-16T09:00:00.000Z')))
    const written = await mkdtemp(join(folder, 'out-'))
    const { exitCode, stdout, stderr } = await rerun(example, [file, '--json', '--out', written], {
      isWithoutNetwork: true,
    })
    expect({ exitCode, stderr, line: JSON.parse(stdout || '{}') as object }).toMatchObject({
      exitCode: 0,
      line: {
        parent: session.session.id,
        lane: 'tape',
        verdict: 'same',
        endState: 'success',
        calls: { live: 0, stubbed: 0 },
        divergence: null,
        misses: [],
        costUsd: 0,
      },
    })
    const [name] = await readdir(written)
    const parsed = parseRecordingText(await readFile(join(written, name!), 'utf8'))
    if ('problem' in parsed) throw new Error(parsed.problem)
    expect(alignSessions(session, parsed.session).divergence).toBeNull()
    expect(whatItDid(parsed.session)).toEqual(whatItDid(session))
  })
})

test('the re-run of a session on the server is a session there, and compare opens on both', async () => {
  const parent = sessions.get('openai') ?? (await record('openai'))
  const environment = { PLAYHEAD_ENDPOINT: server.url }
  const { exitCode, stdout, stderr } = await rerun('openai', [parent.session.id], { environment })
  const [newest] = await server.sessions('limit=1')
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 })
  expect(newest).toMatchObject({
    parentId: parent.session.id,
    lane: 'tape',
    endState: 'success',
    tags: ['example', 'openai', 'rerun'],
  })
  expect(stdout).toBe(`\
✓ No divergence: the agent did what it did when it was recorded.

Calls      3 from the tape
End state  Success, as recorded
Session    s_${newest!.id.slice(0, 8)}  ${server.url}/sessions/${newest!.id}
Compare    ${server.url}/compare?a=${parent.session.id}&b=${newest!.id}
`)
  expect(alignSessions(parent, await server.session(newest!.id)).divergence).toBeNull()
})

test('a fixed agent misses on the failed session, which it leaves', async () => {
  const failed = await record('support-agent', { SUPPORT_AGENT_FAULT: 'customer_id' })
  const environment = { PLAYHEAD_ENDPOINT: server.url }
  const { exitCode, stdout } = await rerun('support-agent', [failed.session.id], { environment })
  expect(exitCode).toBe(1)
  expect(stdout).toContain('✗ The tape has no action find_account: the recorded run never called it.')
  const faulty = await rerun('support-agent', [failed.session.id, '--json'], {
    environment: { ...environment, SUPPORT_AGENT_FAULT: 'customer_id' },
  })
  expect([faulty.exitCode, JSON.parse(faulty.stdout)]).toMatchObject([
    0,
    { verdict: 'same', endState: 'fail' },
  ])
})
