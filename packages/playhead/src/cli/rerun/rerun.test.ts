import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { toRecording, type Message, type Session } from '@playhead/model'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { actionStep, makeProject, sessionOf } from '../../../test/rerun/project.ts'
import { sendError, startFakeServer } from '../test/fake-server.ts'
import { playhead, startPlayhead } from '../test/run-playhead.ts'

let project: Awaited<ReturnType<typeof makeProject>>

beforeAll(async () => {
  project = await makeProject({
    'playhead.config.ts': `
import { spawn } from 'node:child_process'
import { defineConfig, recordAction, withSession } from 'playhead'

const find = recordAction('find', async (id: string) => ({ id }))

async function ask(system: string, text: string): Promise<string> {
  const messages = [{ role: 'system', content: system }, { role: 'user', content: text }]
  const response = await fetch('https://api.openai.com/v1/chat/completions', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-4o', messages }),
  })
  const { choices, error } = await response.json()
  if (error) throw new Error(error.message)
  return choices[0].message.content
}

export default defineConfig({
  allowSpawn: ['sleep'],
  agents: {
    asks: { run: ({ text }) => withSession({ name: 'asks' }, () => ask('You answer questions about bills.', text)) },
    finds: { run: ({ text }) => withSession({ name: 'finds' }, () => find(text)) },
    chats: {
      run: ({ text, thread }) => withSession({ name: 'chats' }, async () => {
        console.log(text + ' after ' + thread.map(({ input, output }) => input.text + ' → ' + output).join())
      }),
    },
    hangs: {
      run: () => withSession({ name: 'hangs' }, async () => {
        const detached = spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' })
        console.log('running ' + process.pid + ' ' + spawn('sleep', ['1000']).pid + ' ' + detached.pid)
        await new Promise(() => setInterval(() => {}, 1000))
      }),
    },
  },
})
`,
  })
})
afterAll(() => project.remove())

async function recordingOf(session: Session): Promise<string> {
  session.steps[0]!.attributes = { 'playhead.session.input': '"c_42"' }
  const file = join(project.folder, `${session.session.name}.json`)
  await writeFile(file, JSON.stringify(toRecording(session, '2026-11-16T09:00:00.000Z')))
  return file
}

const say = (role: string, text: string): Message => ({ role, parts: [{ type: 'text', text }] })

test('a word of the system prompt that differs is shown, and nothing is asked', async () => {
  const asked = [say('system', 'You answer questions about invoices.'), say('user', 'c_42')]
  const messages = [...asked, { ...say('assistant', 'Hello'), isOutput: true }]
  const file = await recordingOf(sessionOf('asks', { kind: 'llm', name: 'chat', model: 'gpt-4o', messages }))
  const { stdout, stderr, exitCode } = await playhead(['rerun', file], { folder: project.folder })
  expect({ exitCode, stderr }).toEqual({
    exitCode: 1,
    stderr: 'Running asks again from s_aaaaaaaa: 2 steps\n',
  })
  expect(stdout.replaceAll(/s_(?!a{8})\w{8}\b|\S+\.jsonl/g, '…')).toBe(`\
✗ The model was asked something else than recorded (step 2 gpt-4o): system prompt is "…questions about bills.", recorded was "…questions about invoices.".

  You answer questions about [-invoices-]{+bills+}.

Calls          0 from the tape
Not asked for  step 2 gpt-4o
End state      Fail after the miss, recorded was Success
Session        …  …
`)
})

test('what was not recorded is listed, and --force runs anyway', async () => {
  const file = await recordingOf(sessionOf('finds', actionStep('find', { id: 'c_42' }, '[3 bytes]')))
  const refused = await playhead(['rerun', file], { folder: project.folder })
  expect(refused).toEqual({
    exitCode: 2,
    stdout: '',
    stderr: `playhead: finds can't be run again from what was recorded:
  step 2 find: its result is not data that can be recorded
With --force it runs until it needs one of them.
`,
  })
  const asJson = await playhead(['rerun', file, '--json'], { folder: project.folder })
  expect({ ...asJson, stdout: JSON.parse(asJson.stdout) as unknown }).toMatchObject({
    exitCode: 2,
    stdout: {
      session: null,
      verdict: 'missed',
      misses: [
        {
          step: 2,
          message: null,
          field: null,
          sentence: 'find: its result is not data that can be recorded',
        },
      ],
    },
  })
  const forced = await playhead(['rerun', file, '--force', '--json'], { folder: project.folder })
  expect(JSON.parse(forced.stdout)).toMatchObject({ lane: 'tape', calls: { live: 0 } })
})

test('without a config, or an agent in it, it says what to write', async () => {
  const file = await recordingOf(sessionOf('other'))
  const missing = await playhead(['rerun', file], { folder: '/' })
  expect(missing).toMatchObject({ exitCode: 2, stdout: '' })
  expect(missing.stderr).toContain('    other: { run: (input) => runAgent(input.text) },')
  const unknown = await playhead(['rerun', file, '--config', `${project.folder}/playhead.config.ts`])
  expect(unknown).toMatchObject({ exitCode: 2, stdout: '' })
  expect(unknown.stderr).toContain('Its agents: asks, finds, chats, hangs.')
})

test('a session that is not there, or a server that needs a key, is no result', async () => {
  const server = await startFakeServer({
    'GET /api/sessions/ffff': (response) =>
      sendError(response, 404, 'NOT_FOUND', 'There is no session ffff.'),
  })
  const { endpoint } = server
  expect(await playhead(['rerun', 'ffff'], { endpoint, folder: project.folder })).toEqual({
    exitCode: 2,
    stdout: '',
    stderr: 'playhead: There is no session ffff.\n',
  })
  const empty = await startFakeServer({ 'GET /api/sessions': { sessions: [] } })
  expect(
    await playhead(['rerun', 'last'], { endpoint: empty.endpoint, folder: project.folder }),
  ).toMatchObject({
    exitCode: 2,
    stderr: 'playhead: There are no sessions yet.\n',
  })
  // What is run again is never a re-run.
  expect(empty.received.slice(0, 2).map(({ query }) => Object.fromEntries(query))).toEqual([
    { limit: '1', reruns: 'exclude', demo: 'false' },
    { limit: '1', reruns: 'exclude' },
  ])
  const locked = await startFakeServer({
    'GET /api/me': { isAuthOn: true },
    'POST /api/login': {},
    'GET /api/sessions/ffff': sessionOf('finds', actionStep('find', { id: 'c_42' }, { id: 'c_42' })),
  })
  const options = { endpoint: locked.endpoint, folder: project.folder }
  for (const command of [['rerun', 'ffff'], ['dev']])
    expect(await playhead([...command, '--password', 'x'], options)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('needs a key of the project: pass one with --api-key') as string,
    })
})

test('the agent gets the earlier turns of the conversation', async () => {
  const turn = (id: string, text: string, at: string): Session => {
    const messages = [say('user', text), { ...say('assistant', `Re: ${text}`), isOutput: true }]
    const { session, steps } = sessionOf('chats', { kind: 'llm', name: 'chat', messages })
    return { session: { ...session, id: id.repeat(32), threadId: 't_1', startedAt: at }, steps }
  }
  const first = turn('1', 'Hello', '2026-11-16T09:00:00.000Z')
  const second = turn('2', 'And now?', '2026-11-16T09:01:00.000Z')
  const server = await startFakeServer({
    [`GET /api/sessions/${'1'.repeat(32)}`]: first,
    [`GET /api/sessions/${'2'.repeat(32)}`]: second,
    'GET /api/sessions': { sessions: [second.session, first.session] },
    'POST /v1/traces': {},
  })
  const { stderr } = await playhead(['rerun', '2'.repeat(32)], {
    endpoint: server.endpoint,
    folder: project.folder,
  })
  expect(stderr).toContain('And now? after Hello → Re: Hello\n')
  const asked = server.received.find(({ path }) => path === '/api/sessions')!
  expect(Object.fromEntries(asked.query)).toEqual({
    thread: 't_1',
    to: '2026-11-16T09:01:00.000Z',
    reruns: 'exclude',
    limit: '20',
  })
})

test.each(['SIGINT', 'SIGKILL'] as const)('%s leaves nothing running', async (signal) => {
  const file = await recordingOf(sessionOf('hangs'))
  const child = startPlayhead(['rerun', file], { folder: project.folder })
  let pids: number[] = []
  for await (const line of createInterface({ input: child.stderr! })) {
    pids = /^running (\d+) (\d+) (\d+)/.exec(line)?.slice(1).map(Number) ?? []
    if (pids.length > 0) break
  }
  const ended = once(child, 'exit')
  child.kill(signal)
  expect(await ended).toEqual(signal === 'SIGINT' ? [130, null] : [null, 'SIGKILL'])
  expect(pids).toHaveLength(3)
  // Only Linux tells what has left the process group of a run.
  const ends = process.platform === 'linux' ? pids : pids.slice(0, 2)
  for (const pid of ends) await expect.poll(() => isRunning(pid)).toBe(false)
})

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
