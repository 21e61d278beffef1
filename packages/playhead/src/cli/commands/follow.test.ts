import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { EndState, Step } from '@playhead/model'
import { expect, test } from 'vitest'
import { startFakeServer } from '../test/fake-server.ts'
import { recordedSession } from '../test/recorded.ts'
import { playhead, startPlayhead } from '../test/run-playhead.ts'

const { session, steps } = recordedSession
const path = `/api/sessions/${session.id}`

/** A server whose session grows: each look shows one more state, and an event announces the next. */
async function startGrowing(states: { endState: EndState; steps: Step[] }[], listed: unknown[][]) {
  let events: ServerResponse | undefined
  let looks = 0
  const lists = listed.values()
  const send = () => void events?.write(`data: {"type":"step","sessionId":"${session.id}"}\n\n`)
  return startFakeServer({
    'GET /api/live': (response) => {
      events = response
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': connected\n\n')
    },
    'GET /api/sessions': (response) => {
      const sessions = lists.next().value ?? []
      response.end(JSON.stringify({ sessions }))
      if (sessions.length === 0) send()
    },
    [`GET ${path}`]: (response) => {
      const { endState, steps: shown } = states[looks]!
      response.end(JSON.stringify({ session: { ...session, endState }, steps: shown }))
      looks += 1
      if (looks < states.length) send()
    },
  })
}

const running = (step: Step): Step => ({ ...step, status: 'running', endedAt: null, durationMs: null })

test('show --follow prints each step once it has ended, and stops with the session', async () => {
  const [root, first, second, ...rest] = steps as [Step, Step, Step, ...Step[]]
  const { endpoint } = await startGrowing(
    [
      { endState: 'running', steps: [running(root), running(first)] },
      { endState: 'running', steps: [running(root), first, running(second)] },
      { endState: 'fail', steps: [root, first, second, ...rest] },
    ],
    [[], [{ ...session, endState: 'running' }]],
  )
  const whole = await startFakeServer({ [`GET ${path}`]: recordedSession })
  const { stdout: replay } = await playhead(['show', session.id], whole)
  // What went wrong is only known at the end.
  const blocks = replay.split('\n\n').slice(2)

  const outcome = await playhead(['show', 'last', '--follow'], { endpoint })

  expect(outcome).toMatchObject({ stderr: 'Waiting for a session to start. ^C stops.\n', exitCode: 0 })
  expect(outcome.stdout.split('\n\n').slice(1)).toEqual(blocks)
  expect(outcome.stdout).toMatch(/^Session: s_fc64bfcd .* Status: Running\n/)
})

test('^C ends show --follow without an error', async () => {
  const { endpoint } = await startGrowing([{ endState: 'running', steps: [] }], [])
  const child = startPlayhead(['show', session.id, '--follow'], { endpoint })
  await once(child.stdout!, 'data')
  child.kill('SIGINT')
  const [stderr] = (await once(child.stderr!, 'data')) as [Buffer]
  const [exitCode] = (await once(child, 'close')) as [number | null]

  expect([exitCode, String(stderr)]).toEqual([0, 'Stopped. The session may still run.\n'])
})

test('show --follow says what it does not go with', async () => {
  const { stderr, exitCode } = await playhead(['show', 'recording.json', '--follow'])

  expect([exitCode, stderr]).toEqual([
    2,
    expect.stringContaining('--follow prints the steps of a session on a server'),
  ])
})
