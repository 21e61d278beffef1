import { expect, onTestFinished, test, vi } from 'vitest'
import { startFakeServer } from '../test/fake-server.ts'
import { playhead, playheadOnTerminal } from '../test/run-playhead.ts'

const repriced = {
  project: 'default',
  sessions: 3,
  steps: 12,
  models: [
    { model: 'gpt-4o-mini', steps: 11, before: 0.0021, after: 0.0042 },
    { model: 'my-\u001B[31mmodel', steps: 1, before: null, after: 1.5 },
  ],
  unpricedModels: ['other-model', 'local\nllama'],
}

function lines(...values: object[]): (response: { end(text: string): void }) => void {
  return (response) => response.end(values.map((value) => `${JSON.stringify(value)}\n`).join(''))
}

test('reprice shows the changes as a table', async () => {
  const { endpoint } = await startFakeServer({
    'POST /api/reprice': lines({ done: 3, total: 3 }, { result: repriced }),
  })

  const { stdout, stderr, exitCode } = await playheadOnTerminal(['reprice'], { endpoint })

  expect(stdout).toBe(`\
Model             Steps   Before       After
gpt-4o-mini          11  $0.0021  →  $0.0042
my-\\x1b[31mmodel      1  unknown  →    $1.50
`)
  expect(stderr).toBe(`\
Updated the cost of 12 steps in 3 sessions.
No price for: other-model, local llama. Set them with: playhead prices set <model>
`)
  expect(exitCode).toBe(0)
})

test('reprice prints tab-separated lines in a pipe, or JSON', async () => {
  const { endpoint } = await startFakeServer({ 'POST /api/reprice': lines({ result: repriced }) })

  const piped = await playhead(['reprice'], { endpoint })
  const json = await playhead(['reprice', '--json'], { endpoint })

  expect(piped.stdout).toBe('gpt-4o-mini\t11\t0.0021\t0.0042\nmy-\\x1b[31mmodel\t1\t\t1.5\n')
  expect(JSON.parse(json.stdout)).toEqual(repriced)
  expect(json.stderr).toBe('')
})

test('reprice says when nothing changed', async () => {
  const result = { ...repriced, sessions: 0, steps: 0, models: [], unpricedModels: [] }
  const { endpoint } = await startFakeServer({ 'POST /api/reprice': lines({ result }) })

  expect(await playheadOnTerminal(['reprice'], { endpoint })).toEqual({
    stdout: '',
    stderr: 'Nothing changed: all costs already match current prices.\n',
    exitCode: 0,
  })
})

test('a job shows a progress bar in a terminal', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const result = { project: 'default', sessions: 4, steps: 9, normalizerVersion: 2 }
  const { endpoint, received } = await startFakeServer({
    'POST /api/rederive': (response) => {
      vi.advanceTimersByTime(350)
      response.write('{"done":1,"tot')
      response.write('al":4}\n')
      response.end(`{"done":4,"total":4}\n${JSON.stringify({ result })}`)
    },
  })

  const { stderr } = await playheadOnTerminal(['rederive', '--all'], { endpoint })

  expect(stderr).toContain('\rRe-deriving  ██████░░░░░░░░░░░░░░░░░░  25%  1 of 4 sessions\u001B[K\r')
  expect(stderr.endsWith('\r\u001B[KRe-derived 9 steps in 4 sessions (rules version 2).\n')).toBe(true)
  expect(received[0]!.query.toString()).toBe('all=true')
})

test('rederive says when everything is up to date, and how to force it', async () => {
  const result = { project: 'default', sessions: 0, steps: 0, normalizerVersion: 2 }
  const { endpoint } = await startFakeServer({ 'POST /api/rederive': lines({ result }) })

  const { stderr } = await playheadOnTerminal(['rederive'], { endpoint })

  expect(stderr).toBe(
    'Every step is already up to date (rules version 2). To re-derive them anyway: playhead rederive --all\n',
  )
})

test('a job that fails or never finishes is an error', async () => {
  const { endpoint } = await startFakeServer({
    'POST /api/reprice': lines(
      { done: 1, total: 2 },
      { error: { code: 'FAILED', message: 'The store is gone.' } },
    ),
    'POST /api/rederive': lines({ done: 1, total: 2 }),
  })

  const failed = await playheadOnTerminal(['reprice'], { endpoint })
  const unfinished = await playheadOnTerminal(['rederive'], { endpoint })

  expect(failed).toEqual({ stdout: '', stderr: 'playhead: The store is gone.\n', exitCode: 1 })
  expect(unfinished).toMatchObject({
    stderr: expect.stringContaining('The server stopped before the job was done.'),
    exitCode: 1,
  })
})
