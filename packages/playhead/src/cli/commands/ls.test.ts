import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { startFakeServer } from '../test/fake-server.ts'
import { recordedPage } from '../test/recorded.ts'
import { playhead, playheadOnTerminal } from '../test/run-playhead.ts'

const [running, failed, succeeded] = recordedPage.sessions

beforeEach(() => {
  // Not only the date: after a while of real time, a progress bar appears.
  vi.useFakeTimers({ toFake: ['Date', 'performance'], now: Date.parse('2026-11-15T12:00:00Z') })
})
afterEach(() => {
  vi.useRealTimers()
})

test('ls prints a table in a terminal', async () => {
  const { endpoint } = await startFakeServer({ 'GET /api/sessions': recordedPage })

  const { stdout, stderr, exitCode } = await playheadOnTerminal(['ls', '--limit', '3'], {
    endpoint,
    columns: 120,
  })

  expect(stdout).toBe(`\
State      Session     Name                             Tags      Steps  Tokens       Cost  Duration    When
▸ Running  s_14b223cf  Bad tool agent  Hi                             8     310  $0.000068         –  2h ago
✗ Fail     s_fc64bfcd  rate-limited  FAIL_RATE          demo, v5      3       –          –      2.1s  2h ago
✓ Success  s_f33958bd  user-request  Weather in Paris?  demo, v5      5     310  $0.000078      79ms  2h ago
`)
  expect(stderr).toBe('There are more sessions. To see them, use --limit 100 or --all.\n')
  expect(exitCode).toBe(0)
})

test('a narrow terminal shows only the most important columns', async () => {
  const { endpoint } = await startFakeServer({ 'GET /api/sessions': { sessions: recordedPage.sessions } })

  const narrow = await playheadOnTerminal(['ls'], { endpoint, columns: 60 })

  expect(narrow.stdout).toBe(`\
State      Session     Name                             When
▸ Running  s_14b223cf  Bad tool agent  Hi             2h ago
✗ Fail     s_fc64bfcd  rate-limited  FAIL_RATE        2h ago
✓ Success  s_f33958bd  user-request  Weather in Par…  2h ago
`)
  expect(narrow.stderr).toBe('')
})

test('the state is colored, unless colors are off', async () => {
  const { endpoint } = await startFakeServer({ 'GET /api/sessions': { sessions: [failed] } })
  const run = (args: string[], environment: Record<string, string>) =>
    playheadOnTerminal(['ls', ...args], { endpoint, environment: { NO_COLOR: '', ...environment } })

  expect((await run([], {})).stdout).toContain('\u001B[31m✗ Fail\u001B[39m')
  expect((await run([], { NO_COLOR: '1' })).stdout).not.toContain('\u001B')
  expect((await run([], { NO_COLOR: '1', FORCE_COLOR: '1' })).stdout).toContain('\u001B[31m✗ Fail\u001B[39m')
  expect((await run([], { FORCE_COLOR: '0' })).stdout).not.toContain('\u001B')
  expect((await run([], { TERM: 'dumb' })).stdout).not.toContain('\u001B')
  expect((await run(['--no-color'], { FORCE_COLOR: '1' })).stdout).not.toContain('\u001B')
})

test('ls prints one tab-separated line per session in a pipe', async () => {
  const { endpoint } = await startFakeServer({ 'GET /api/sessions': recordedPage })

  expect(await playhead(['ls', '--limit', '3'], { endpoint })).toEqual({
    stdout: `\
running\t${running!.id}\tBad tool agent\tHi\t\t8\t310\t0.0000684\t\t2026-11-15T09:55:14.311Z\t\t
fail\t${failed!.id}\trate-limited\tFAIL_RATE\tdemo,v5\t3\t\t\t2056.264\t2026-11-15T09:41:25.831Z\t\t
success\t${succeeded!.id}\tuser-request\tWeather in Paris?\tdemo,v5\t5\t310\t0.000078\t78.715\t2026-11-15T09:41:25.325Z\t\t
`,
    stderr: '',
    exitCode: 0,
  })
})

test('a re-run is listed as such', async () => {
  const rerun = { ...succeeded!, parentId: failed!.id, lane: 'fork', edit: { result: 'c_42' } }
  const { endpoint } = await startFakeServer({ 'GET /api/sessions': { sessions: [rerun] } })

  const table = await playheadOnTerminal(['ls'], { endpoint, columns: 200 })
  const line = await playhead(['ls'], { endpoint })

  expect(table.stdout).toContain('user-request  fork of s_fc64bfcd  Weather in Paris?')
  expect(line.stdout.trimEnd().split('\t').slice(-2)).toEqual(['fork', failed!.id])
})

test('filter options become query parameters of the API', async () => {
  const { endpoint, received } = await startFakeServer({ 'GET /api/sessions': { sessions: [] } })
  const filters = [
    ['status', 'fail'],
    ['status', 'lost'],
    ['tag', 'a b'],
    ['tag', 'c'],
    ['model', 'm'],
    ['tool', 't'],
    ['agent', 'x'],
    ['name', 'n'],
    ['user', 'u'],
    ['thread', 'th'],
    ['branch', 'main'],
    ['test', 'it works'],
    ['parent', 's_1a2b3c4d'],
    ['lane', 'fork'],
    ['reruns', 'include'],
    ['text', 'charged twice'],
    ['cost', '>0.01'],
    ['duration', '1s..2s'],
  ]
  const typed = [...filters, ['since', '24h'], ['until', '1h'], ['sort', 'cost'], ['limit', '7']]

  const { stderr } = await playheadOnTerminal(
    ['ls', ...typed.flatMap(([name, value]) => [`--${name}`, value!])],
    {
      endpoint,
    },
  )

  expect(received.map(({ query }) => [...query])).toEqual([
    [...filters, ['from', '24h'], ['to', '1h'], ['sort', 'cost'], ['limit', '7']],
  ])
  expect(stderr).toBe('No sessions match. To list all: playhead ls\n')
})

test('without any sessions, ls explains how to record one', async () => {
  const { endpoint } = await startFakeServer({ 'GET /api/sessions': { sessions: [] } })

  const { stdout, stderr, exitCode } = await playhead(['ls', '--sort', 'cost'], { endpoint })

  expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 0 })
  expect(stderr).toContain(`There are no sessions yet at ${endpoint}.`)
  expect(stderr).toContain("import * as playhead from 'playhead'")
  expect(stderr).toContain(`OTEL_EXPORTER_OTLP_ENDPOINT=${endpoint}`)
})

test('ls --all reads every page', async () => {
  const { endpoint, received } = await startFakeServer({
    'GET /api/sessions': (response, { query }) =>
      void response.end(
        JSON.stringify(
          query.get('cursor') === null
            ? { sessions: [running], nextCursor: 'two' }
            : { sessions: [failed, succeeded] },
        ),
      ),
  })

  const { stdout } = await playhead(['ls', '--all', '--json'], { endpoint })

  expect(JSON.parse(stdout)).toEqual({ sessions: recordedPage.sessions })
  expect(received.map(({ query }) => query.toString())).toEqual(['limit=500', 'limit=500&cursor=two'])
})

test('a limit larger than a page is filled from several pages', async () => {
  const page = Array.from({ length: 500 }, () => running)
  const { endpoint, received } = await startFakeServer({
    'GET /api/sessions': (response, { query }) =>
      void response.end(
        JSON.stringify({ sessions: page.slice(0, Number(query.get('limit'))), nextCursor: 'more' }),
      ),
  })

  const { stdout } = await playheadOnTerminal(['ls', '--limit', '600', '--json'], { endpoint })

  const answer = JSON.parse(stdout) as typeof recordedPage
  expect(answer.sessions).toHaveLength(600)
  expect(answer.nextCursor).toBe('more')
  expect(received.map(({ query }) => query.get('limit'))).toEqual(['500', '100'])
})

test('no sessions are an empty JSON list', async () => {
  const { endpoint } = await startFakeServer({ 'GET /api/sessions': { sessions: [] } })

  const { stdout, stderr } = await playheadOnTerminal(['ls', '--json'], { endpoint })

  expect(JSON.parse(stdout)).toEqual({ sessions: [] })
  expect(stderr).toBe('')
})

test('control characters in recorded text are escaped', async () => {
  const evil = '\u001B[2Jboo\u0007\tand\nmore \u009B31m \u202Egnp'
  const session = { ...failed!, name: evil, inputPreview: `x ${evil}`, tags: [evil], id: evil }
  const { endpoint } = await startFakeServer({ 'GET /api/sessions': { sessions: [session] } })

  const table = await playheadOnTerminal(['ls'], { endpoint, columns: 400 })
  const json = await playheadOnTerminal(['ls', '--json'], { endpoint })
  const lines = await playhead(['ls'], { endpoint })

  for (const { stdout } of [table, json, lines])
    expect(stdout.replaceAll(/[\n\t]/g, '')).not.toMatch(/[\p{Cc}\u202E]/u)
  expect(table.stdout).toContain(String.raw`\x1b[2Jboo\x07 and more \x9b31m \u202egnp`)
  expect(lines.stdout.split('\n')).toHaveLength(2)
  expect(JSON.parse(json.stdout)).toEqual({ sessions: [session] })
})
