import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseRecording } from '@playhead/model'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { playhead as runCli } from '../src/cli/test/run-playhead.ts'
import * as playhead from '../src/index.ts'
import { readSettings } from '../src/runtime/settings.ts'
import { startOtlpSink } from './otlp-sink.ts'
import { runProgram } from './run-program.ts'
import { temporaryFolder } from './temporary-folder.ts'

afterEach(async () => {
  await playhead.shutdown({ timeoutMs: 500 })
  vi.unstubAllEnvs()
})

const pay = playhead.recordAction('pay', (card: string, options: { apiKey: string; note: string }) => ({
  isOk: true,
  echo: `${card} ${options.note}`,
}))

describe('redaction', () => {
  const secret = {
    card: '4111 1111 1111 1111',
    apiKey: 'hunter2',
    note: 'customer Ada, sk-aaaaaaaaaaaaaaaaaaaaaaaa',
  }

  async function sent(options: playhead.InitOptions) {
    const sink = await startOtlpSink()
    vi.stubEnv('PLAYHEAD_SPOOL', 'off')
    playhead.init({ endpoint: sink.url, capture: false, ...options })
    const session = playhead.withSession({ name: 'secret' }, (view) => {
      pay(secret.card, { apiKey: secret.apiKey, note: secret.note })
      return view
    })
    await playhead.flush()
    await sink.stop()
    return { wire: JSON.stringify(sink.requests), view: JSON.stringify(session) }
  }

  test('keys, tokens and card numbers are neither sent nor shown', async () => {
    const { wire, view } = await sent({})
    for (const text of [wire, view]) {
      expect(text).not.toMatch(/4111|hunter2|sk-aaaa/)
      expect(text).toContain('customer Ada')
    }
  })

  test('values that match a rule are not sent', async () => {
    const { wire, view } = await sent({ redact: [/\bAda\b/, 'card'] })
    for (const text of [wire, view]) expect(text).not.toMatch(/Ada/)
  })

  test('without content, no text is sent and the structure is kept', async () => {
    const { wire, view } = await sent({ capture: { llm: false, content: false } })
    for (const text of [wire, view]) {
      expect(text).not.toMatch(/4111|hunter2|customer/)
      expect(text).toContain('pay')
      expect(text).toContain('characters]')
    }
  })
})

test('a value that is too large is truncated and marked', () => {
  playhead.init({ endpoint: false, capture: false, maxValueBytes: 2000 })
  const session = playhead.withSession((view) => {
    playhead.recordAction('large', (text: string) => text)('x'.repeat(10_000))
    playhead.recordAction('large result', () => 'x'.repeat(10_000))()
    playhead.record(new playhead.ActionEvent({ actionType: 'sent', params: 'x'.repeat(10_000), returns: 1 }))
    return view
  })
  const cuts = session.steps.map(({ isTruncated, attributes }) => [
    isTruncated,
    attributes?.['playhead.truncated.of'],
  ])
  expect(cuts.slice(1)).toEqual([
    [true, ['arguments', 'result']],
    [true, ['result']],
    [true, ['arguments']],
  ])
  expect(session.actionEvents[0]!.returns).toMatch(/… \[\d+ of 10000 characters\]$/)
})

describe('recordings without a server', () => {
  test('each session is a file that `playhead show` opens', async () => {
    const folder = await temporaryFolder()
    playhead.init({ dir: folder, capture: false })
    const session = playhead.withSession({ name: 'to a file', tags: ['t'] }, (view) => {
      pay('c_1', { apiKey: 'k', note: 'n' })
      playhead.record(new playhead.LLMEvent({ model: 'gpt-4o', usage: { input: 1000, output: 10 } }))
      return view
    })
    await playhead.flush()
    const [name, ...others] = await readdir(folder)
    expect(name).toMatch(
      new RegExp(`^\\d{4}-\\d\\d-\\d\\dT\\d\\d-\\d\\d-\\d\\d-s_${session.id.slice(0, 8)}\\.jsonl$`),
    )
    expect(others).toEqual([])
    const path = join(folder, name!)
    expect(fileURLToPath(session.url)).toBe(path)
    const text = await readFile(path, 'utf8')
    expect(text.trimEnd()).not.toContain('\n')
    const { session: summary, steps } = session.toJSON()
    delete summary.url
    expect(parseRecording(JSON.parse(text))).toEqual({
      session: JSON.parse(JSON.stringify({ session: summary, steps })),
    })

    const shown = await runCli(['show', path])
    expect([shown.exitCode, shown.stderr]).toEqual([0, ''])
    expect(shown.stdout).toMatch(/Cost: \$0\.0026 \| Status: Success[^]*Action: pay/)
  })

  test('a killed process leaves what it had written', async () => {
    const folder = await temporaryFolder()
    const outcome = await runProgram('support-session', {
      args: ['exit'],
      environment: { PLAYHEAD_DIR: folder },
    })
    expect([outcome.exitCode, outcome.stderr]).toEqual([3, ''])
    const [name] = await readdir(folder)
    const parsed = parseRecording(JSON.parse(await readFile(join(folder, name!), 'utf8')))
    expect(parsed).toMatchObject({
      session: {
        session: { endState: 'indeterminate', name: 'support' },
        steps: [{ name: 'support' }, { name: 'classify_intent' }, { name: 'slow_tool', status: 'running' }],
      },
    })
  })
})

describe('settings', () => {
  test.each<[string, playhead.InitOptions, Record<string, string>, object]>([
    ['nothing', {}, {}, { endpoint: 'http://localhost:4318', apiKey: undefined, dir: undefined }],
    [
      'the environment',
      {},
      { PLAYHEAD_ENDPOINT: 'https://ph.test/base/', PLAYHEAD_API_KEY: ' k\n' },
      { endpoint: 'https://ph.test/base', apiKey: 'k' },
    ],
    ['AgentOps’ key', {}, { AGENTOPS_API_KEY: 'k' }, { apiKey: 'k' }],
    [
      'options before the environment',
      { endpoint: 'localhost:1', apiKey: 'a' },
      { PLAYHEAD_ENDPOINT: 'x', PLAYHEAD_API_KEY: 'b' },
      { endpoint: 'http://localhost:1', apiKey: 'a' },
    ],
    ['a folder alone sends nothing', { dir: '/tmp/x' }, {}, { endpoint: undefined, dir: '/tmp/x' }],
    [
      'a folder and a server',
      { dir: '/tmp/x' },
      { PLAYHEAD_ENDPOINT: 'http://h' },
      { endpoint: 'http://h', dir: '/tmp/x' },
    ],
    [
      'off',
      {},
      { PLAYHEAD_ENDPOINT: 'off', PLAYHEAD_SPOOL: 'off' },
      { endpoint: undefined, spool: undefined },
    ],
    ['an address with the path of OTLP', { endpoint: 'http://h/v1/traces' }, {}, { endpoint: 'http://h' }],
  ])('%s', (_, options, environment, expected) => {
    expect(readSettings(options, environment)).toMatchObject({ ...expected, problems: [] })
  })

  test('invalid settings are reported, not thrown', () => {
    const { endpoint, apiKey, problems } = readSettings({ endpoint: 'ftp://x', apiKey: 'käse' }, {})
    expect([endpoint, apiKey, problems.length]).toEqual([undefined, undefined, 2])
  })
})

test('a second init changes the settings', async () => {
  const [first, second] = await Promise.all([startOtlpSink(), startOtlpSink()])
  vi.stubEnv('PLAYHEAD_SPOOL', 'off')
  playhead.init({ endpoint: first.url, capture: false, tags: ['one'] })
  playhead.init({ endpoint: first.url, capture: false, tags: ['one'] })
  pay('c', { apiKey: '', note: '' })
  await playhead.flush()
  playhead.init({ endpoint: second.url, capture: false, tags: ['two'] })
  pay('c', { apiKey: '', note: '' })
  await playhead.flush()
  expect([first.spans(), second.spans()].map((spans) => spans.length)).toEqual([1, 1])
  expect(process.listenerCount('SIGTERM')).toBe(1)
  await Promise.all([first.stop(), second.stop()])
})
