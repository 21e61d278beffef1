import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Session, Step } from '@playhead/model'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../../test/temporary-folder.ts'
import { startFakeServer } from '../test/fake-server.ts'
import { recordedPage, recordedSession, recording } from '../test/recorded.ts'
import { playhead, playheadOnTerminal } from '../test/run-playhead.ts'

const { id } = recordedSession.session

const replay = `\
Session: s_fc64bfcd | Duration: 2.1s | Cost: none | Status: Fail

What went wrong:
  1. Step 3 gpt-4o-mini failed: AI_APICallError: Rate limit reached for fake.

00:00.000  LLM Call (gpt-4o-mini)  #2
           Input: "FAIL_RATE"
           Error: AI_APICallError: Rate limit reached for fake

00:02.051  LLM Call (gpt-4o-mini)  #3
           Input: "FAIL_RATE"
           Error: AI_APICallError: Rate limit reached for fake

00:02.056  Exception: AI_APICallError
           Session ended: Fail (Failed after 2 attempts. Last error: Rate limit reached for fake)
`

test('show finds a session by the first digits of its id', async () => {
  const { endpoint, received } = await startFakeServer({ 'GET /api/sessions/fc64bfcd': recordedSession })

  expect(await playhead(['show', 's_FC64bfcd'], { endpoint })).toEqual({
    stdout: replay,
    stderr: '',
    exitCode: 0,
  })
  expect(received.map(({ path }) => path)).toEqual(['/api/sessions/fc64bfcd', `/api/sessions/${id}/findings`])
})

test('show prints the suspects that the server knows', async () => {
  const suspect = {
    stepId: 'a',
    agent: null,
    sentence: 'It differs from s_1a2b3c4d, which passed.',
    findings: [0],
  }
  const finding = { kind: 'divergence', stepId: 'a', weight: 0.9, sentence: suspect.sentence, evidence: [] }
  const { endpoint } = await startFakeServer({
    'GET /api/sessions/fc64bfcd': recordedSession,
    [`GET /api/sessions/${id}/findings`]: { findings: [finding], suspects: [suspect] },
  })

  const { stdout } = await playhead(['show', 's_FC64bfcd'], { endpoint })

  expect(stdout).toContain('\nWhat went wrong:\n  1. It differs from s_1a2b3c4d, which passed.\n')
})

test('show reads a recording from a file or stdin, without a server', async () => {
  const file = join(await temporaryFolder(), 'failure.json')
  await writeFile(file, JSON.stringify(recording))

  const fromFile = await playhead(['show', file])
  const fromPipe = await playhead(['show', '-'], { stdin: `\uFEFF${JSON.stringify(recording)}` })

  expect(fromFile).toEqual({ stdout: replay, stderr: '', exitCode: 0 })
  expect(fromPipe).toEqual(fromFile)
})

test('show says why a file is not a recording', async () => {
  const missing = await playhead(['show', 'nowhere/recording.json'])
  const notJson = await playhead(['show', '-'], { stdin: '\u001B[31mhello' })
  const other = await playhead(['show', '-'], { stdin: '{}' })
  const typed = await playheadOnTerminal(['show', '-'])

  expect(missing.stderr).toBe('playhead: No such file or folder: nowhere/recording.json\n')
  expect(notJson.stderr).toMatch(/^playhead: The input is not JSON: /)
  expect(notJson.stderr).not.toContain('\u001B')
  expect(other.stderr).toBe('playhead: The input is not a Playhead recording: it has no version.\n')
  expect(typed.stderr).toContain('"-" reads a recording from stdin')
  expect([missing, notJson, other, typed].map(({ exitCode }) => exitCode)).toEqual([1, 1, 1, 2])
})

test('"last" and "last-failed" show the newest session', async () => {
  const { endpoint, received } = await startFakeServer({
    'GET /api/sessions': { sessions: [recordedPage.sessions[1]], nextCursor: 'more' },
    [`GET /api/sessions/${id}`]: recordedSession,
  })

  const last = await playheadOnTerminal(['show', 'last'], { endpoint })
  await playheadOnTerminal(['show', 'last-failed'], { endpoint })

  expect(last.stdout).toBe(replay)
  expect(received.map(({ path, query }) => `${path}?${query.toString()}`)).toEqual([
    '/api/sessions?limit=1&demo=false',
    `/api/sessions/${id}?`,
    `/api/sessions/${id}/findings?`,
    '/api/sessions?limit=1&status=fail&reruns=exclude&demo=false',
    `/api/sessions/${id}?`,
    `/api/sessions/${id}/findings?`,
  ])
})

test('"last" fails when there are no sessions', async () => {
  const { endpoint } = await startFakeServer({ 'GET /api/sessions': { sessions: [] } })

  expect(await playheadOnTerminal(['show', 'last'], { endpoint })).toMatchObject({
    stderr: 'playhead: There are no sessions yet.\n',
    exitCode: 1,
  })
  expect(await playheadOnTerminal(['show', 'last-failed'], { endpoint })).toMatchObject({
    stderr: 'playhead: No session has failed.\n',
    exitCode: 1,
  })
})

test('colors are used in terminals only, unless forced', async () => {
  const { endpoint } = await startFakeServer({ [`GET /api/sessions/${id}`]: recordedSession })
  const environment = { NO_COLOR: '' }

  const coloured = await playheadOnTerminal(['show', id], { endpoint, environment })
  const plain = await playheadOnTerminal(['show', id, '--no-color'], { endpoint, environment })
  const forced = await playhead(['show', id], { endpoint, environment: { FORCE_COLOR: '1' } })

  expect(coloured.stdout).toContain('\u001B[31mFail\u001B[39m')
  expect(plain.stdout).toBe(replay)
  expect(forced.stdout).toBe(coloured.stdout)
})

test('show can be limited to one step or to failed steps', async () => {
  const { endpoint } = await startFakeServer({ [`GET /api/sessions/${id}`]: recordedSession })

  const step = await playheadOnTerminal(['show', id, '--step', '2'], { endpoint })
  const errors = await playheadOnTerminal(['show', id, '--errors-only'], { endpoint })
  const beyond = await playheadOnTerminal(['show', id, '--step', '4'], { endpoint })

  expect(step.stdout).toContain('Input (user): FAIL_RATE')
  expect(step.stdout).not.toContain('Session ended')
  expect(errors.stdout).not.toContain('Workflow: rate-limited')
  expect(errors.stdout).toContain('Error: AI_APICallError: Rate limit reached for fake')
  expect(beyond).toEqual({
    stdout: '',
    stderr: 'playhead: There is no step 4: the session has 3 steps.\n',
    exitCode: 1,
  })
})

test('show --json prints the response of the API', async () => {
  const { endpoint } = await startFakeServer({ [`GET /api/sessions/${id}`]: recordedSession })
  const run = async (...args: string[]): Promise<unknown> =>
    JSON.parse((await playheadOnTerminal(['show', id, '--json', ...args], { endpoint })).stdout)

  expect(await run()).toEqual(recordedSession)
  expect(await run('--step', '2')).toEqual(recordedSession.steps[1])
  expect(await run('--errors-only')).toEqual({
    session: recordedSession.session,
    steps: recordedSession.steps.slice(1),
  })
})

test('missing payloads are fetched singly when few, and all at once when many', async () => {
  const few = longSession(20, 4)
  const many = longSession(80, 60)
  const { endpoint, received } = await startFakeServer({
    ...answersFor('aaaa', few),
    ...answersFor('bbbb', many),
  })

  const fewShown = await playheadOnTerminal(['show', 'aaaa'], { endpoint })
  const manyShown = await playheadOnTerminal(['show', 'bbbb'], { endpoint })

  expect(fewShown.stdout.match(/Input: number=\d+/g)).toHaveLength(20)
  expect(manyShown.stdout.match(/Input: number=\d+/g)).toHaveLength(80)
  expect(received.map(({ path, query }) => `${path}?${query.toString()}`).sort()).toEqual(
    [
      '/api/sessions/aaaa?',
      ...few.steps.slice(0, 4).map((step) => `/api/sessions/${id}/steps/${step.id}?`),
      '/api/sessions/bbbb?',
      '/api/sessions/bbbb?payloads=all',
      ...Array.from({ length: 2 }, () => `/api/sessions/${id}/findings?`),
    ].sort(),
  )
})

test('for a very long session, only the payloads of failed steps are fetched', async () => {
  const long = longSession(2500, 2500)
  for (const index of [7, 2000]) long.steps[index]!.status = 'error'
  const { endpoint, received } = await startFakeServer(answersFor('cccc', long))

  const { stdout } = await playheadOnTerminal(['show', 'cccc'], { endpoint })
  const one = await playheadOnTerminal(['show', 'cccc', '--step', '100'], { endpoint })

  expect(stdout.match(/Action: count/g)).toHaveLength(2500)
  expect(one.stdout).toContain('"number": 99')
  expect(received.map(({ path }) => path).sort()).toEqual(
    [
      '/api/sessions/cccc',
      `/api/sessions/${id}/steps/step7`,
      `/api/sessions/${id}/steps/step2000`,
      '/api/sessions/cccc',
      `/api/sessions/${id}/steps/step99`,
      `/api/sessions/${id}/findings`,
    ].sort(),
  )
})

/** A session of actions, the first of which come without their payloads. */
function longSession(count: number, withoutPayload: number): Session {
  const steps = Array.from({ length: count }, (_, index): Step => ({
    ...recordedSession.steps[0]!,
    id: `step${index}`,
    kind: 'action',
    name: 'count',
    status: 'ok',
    hasPayload: index >= withoutPayload,
    ...(index >= withoutPayload && { input: { number: index } }),
  }))
  for (const step of steps) {
    delete step.error
    delete step.inputPreview
    delete step.messages
  }
  return { session: recordedSession.session, steps }
}

function answersFor(prefix: string, session: Session) {
  const whole = session.steps.map((step, index): Step => ({
    ...step,
    hasPayload: true,
    input: { number: index },
  }))
  return {
    [`GET /api/sessions/${prefix}`]: (
      response: { end(body: string): void },
      { query }: { query: URLSearchParams },
    ) =>
      response.end(JSON.stringify(query.get('payloads') === 'all' ? { ...session, steps: whole } : session)),
    ...Object.fromEntries(whole.map((step) => [`GET /api/sessions/${id}/steps/${step.id}`, step])),
  }
}
