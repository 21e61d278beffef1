import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Job } from '../api/schemas/dev.ts'
import { DevRunners } from './dev-runners.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const about = { host: 'laptop', pid: 7, version: '1', agents: ['support'] }
const project = 'default'
const secret = 'only the terminal knows it'

function start() {
  const changes: string[] = []
  const runners = new DevRunners((_, job: Job) => changes.push(`${job.jobId} ${job.state}: ${job.sentence}`))
  const written: string[] = []
  const connect = (lastEventId = 0) =>
    runners.connect(
      { project, secret, about, lastEventId },
      { write: (chunk) => written.push(chunk.toString()) > 0, end: () => written.push('ended') },
    )
  const connection = connect()
  const { code } = JSON.parse(/data: (.*)/.exec(written[0]!)![1]!) as { code: string }
  const page = { project, tokens: [runners.pair(project, code).token] }
  const submit = (jobId: string) =>
    runners.submit(page, { jobId, sessionId: 'a'.repeat(32), stepId: 'b', times: 1 })
  return { runners, changes, written, connect, connection, page, submit }
}

test('a runner is gone ten seconds after its connection broke, and its jobs end', () => {
  const { runners, changes, connection, page, submit } = start()
  submit('taken')
  runners.report({ project, secret }, 'taken', { state: 'accepted' })
  connection.end()

  vi.advanceTimersByTime(9_999)
  expect(runners.runnersOf(page)).toHaveLength(1)
  vi.advanceTimersByTime(1)
  expect(runners.runnersOf(page)).toEqual([])
  expect(changes.at(-1)).toBe('taken finished: The terminal with `playhead dev` has disconnected.')
  expect(() => submit('late')).toThrow(/npx playhead dev/)
})

test('a runner that comes back in time stays, and its old connection ends', () => {
  const { runners, written, connect, connection, page } = start()
  connection.end()
  vi.advanceTimersByTime(9_000)
  connect()
  vi.advanceTimersByTime(60_000)
  expect(runners.runnersOf(page)).toHaveLength(1)

  connect()
  connection.end()
  vi.advanceTimersByTime(60_000)
  expect(written).toContain('ended')
  expect(runners.runnersOf(page)).toHaveLength(1)
})

test('a job that no runner takes within five seconds is refused, and is not run later', () => {
  const { runners, changes, written, connect, connection, submit } = start()
  connection.end()
  submit('forgotten')
  vi.advanceTimersByTime(5_000)
  expect(changes).toEqual([
    'forgotten queued: undefined',
    'forgotten refused: The terminal with `playhead dev` did not answer within five seconds.',
  ])

  const before = written.length
  connect(2)
  expect(written.slice(before)).toEqual([])
  expect(() => runners.report({ project, secret }, 'forgotten', { state: 'accepted' })).toThrow(/has ended/)
})

test('a job that was taken may wait for its turn', () => {
  const { runners, changes, submit } = start()
  submit('patient')
  runners.report({ project, secret }, 'patient', { state: 'accepted' })
  vi.advanceTimersByTime(600_000)
  expect(changes.at(-1)).toBe('patient accepted: undefined')
})

test('a terminal has a limited number of open jobs, and ended ones are forgotten in the end', () => {
  const { runners, page, submit } = start()
  for (let index = 0; index < 20; index += 1) submit(`job-${index}`)
  expect(() => submit('too-many')).toThrow(/already has 20 jobs/)

  vi.advanceTimersByTime(5_000)
  for (let index = 0; index < 300; index += 1) {
    submit(`more-${index}`)
    runners.cancel(page, `more-${index}`)
  }
  expect(runners.jobsOf(page)).toHaveLength(100)
})
