import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as playhead from 'playhead'
import { beforeAll, expect, test, vi } from 'vitest'
import { locateCassette } from '../../src/testing/cassettes/cassette-file.ts'
import {
  cassetteMode,
  cassetteTimeoutMs,
  readCassetteOption,
  takeCassetteOption,
} from '../../src/testing/cassettes/cassette-option.ts'
import { planAgentTest } from '../../src/testing/runs/run-agent-test.ts'
import { recordPlainTest } from '../../src/testing/runs/record-plain-test.ts'
import { runAgent } from '../../src/testing/runs/run-agent.ts'
import { wrapTestApi } from '../../src/testing/runs/vitest-session.ts'
import { temporaryFolder } from '../temporary-folder.ts'

beforeAll(() => playhead.init({ silent: true }))

test.each([
  [{}, 'fill'],
  [{ CI: 'true' }, 'strict'],
  [{ CI: 'false' }, 'fill'],
  [{ CI: '1', PLAYHEAD_CASSETTE: 'record' }, 'record'],
  [{ PLAYHEAD_CASSETTE: '' }, 'fill'],
])('the mode of %j is %s', (environment, mode) => {
  expect(cassetteMode(environment)).toBe(mode)
})

test('a mode that does not exist', () => {
  expect(() => cassetteMode({ PLAYHEAD_CASSETTE: 'replay' })).toThrow(
    'PLAYHEAD_CASSETTE must be one of strict, fill, record, live, but it is "replay".',
  )
})

test.each([
  [7, 'The option cassette must be true, a file or an object, but it is 7.'],
  ['', 'The file of the option cassette must have a name, but it is "".'],
  [
    { volatile: ['x'] },
    'Each item of the option cassette.volatile must be a regular expression, but it is "x".',
  ],
])('a wrong option: %j', (option, sentence) => {
  expect(() => readCassetteOption(option)).toThrow(sentence)
})

const REFUSED =
  'A cassette gives the same answers in every run, so repeating the test proves nothing. Leave out one of them, or run it live: PLAYHEAD_CASSETTE=live.'

test('a repeated test on a cassette is refused, unless it is live', () => {
  expect(() => takeCassetteOption({ cassette: true, repeats: 2 })).toThrow(REFUSED)
  expect(() => planAgentTest({ cassette: true, repeat: 3 }, '')).toThrow(REFUSED)
  expect(() => planAgentTest({ cassette: true, repeat: { max: 9, stop: 'sprt' } }, '')).toThrow(REFUSED)
  expect(planAgentTest({ cassette: true, repeat: 1, inputs: ['a', 'b'] }, '').runs).toHaveLength(2)
  vi.stubEnv('PLAYHEAD_CASSETTE', 'live')
  expect(planAgentTest({ cassette: true, repeat: 3 }, '').runs).toHaveLength(3)
  vi.unstubAllEnvs()
})

test('where cassettes are', async () => {
  const folder = await temporaryFolder()
  const testFile = join(folder, 'test/billing.test.ts')
  const owner = { testFile, title: 'refunds > says “sorry”, twice?' }
  expect(locateCassette(owner, {})).toBe(
    join(folder, 'test/__cassettes__/billing.test.ts/refunds-says-sorry-twice.jsonl'),
  )
  expect(locateCassette({ ...owner, variant: 'a/b' }, {})).toBe(
    join(folder, 'test/__cassettes__/billing.test.ts/refunds-says-sorry-twice/a-b.jsonl'),
  )
  expect(locateCassette(owner, { file: '../tapes/x.jsonl' })).toBe(join(folder, 'tapes/x.jsonl'))
  writeFileSync(
    join(folder, 'playhead.config.ts'),
    `export default { agents: {},\n  cassettes: 'test/tapes',\n}\n`,
  )
  expect(locateCassette(owner, {})).toBe(
    join(folder, 'test/tapes/test/billing.test.ts/refunds-says-sorry-twice.jsonl'),
  )
})

test('an agent of the config runs in the session of the test', async () => {
  const folder = await temporaryFolder()
  mkdirSync(join(folder, 'test'))
  const config = join(folder, 'playhead.config.mjs')
  writeFileSync(
    config,
    `export default { agents: { echo: {
      run: ({ text, value, messages, from, thread }, { session, signal }) =>
        ({ text, value, messages, from, thread, session: session.name, isAborted: signal.aborted }),
    } } }`,
  )
  const run = (input: Parameters<typeof runAgent>[1]) =>
    recordPlainTest({ name: 'echoes', attempt: 1 }, () => runAgent('echo', input, { config }))
  const common = { messages: [], from: 'session', thread: [], session: 'echoes', isAborted: false }
  expect(await run('Hi')).toEqual({ text: 'Hi', value: 'Hi', ...common })
  expect(await run({ text: 'Hi', value: { id: 7 } })).toEqual({ text: 'Hi', value: { id: 7 }, ...common })
  await expect(runAgent('other', 'Hi', { config })).rejects.toThrow(
    `${config} has no agent other. Add it to its agents: other: { run: (input) => runAgent(input.text) },`,
  )
  await expect(runAgent('other', 'Hi')).rejects.toThrow(
    /^There is no playhead\.config\.ts in .*test\/cassettes or above it/,
  )
})

test('the runner gives a test with a cassette time to load the agent, unless somebody chose a timeout', () => {
  const given: unknown[] = []
  const define = wrapTestApi((...[, options]: unknown[]) => given.push(options))
  define('a', { cassette: true, timeout: 7 }, () => {})
  expect(given).toEqual([{ timeout: 7, meta: { playheadCassette: {} } }])
  expect([undefined, 5_000, 60_000, 1_000].map((configured) => cassetteTimeoutMs(configured))).toEqual([
    30_000,
    30_000,
    undefined,
    undefined,
  ])
})
