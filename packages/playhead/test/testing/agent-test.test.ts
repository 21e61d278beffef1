import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestResult } from '@playhead/model'
import fc from 'fast-check'
import * as playhead from 'playhead'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectSession } from '../../src/testing/matchers/matchers.ts'
import type { AgentTestBody, AgentTestOptions } from '../../src/testing/runs/agent-test.ts'
import { planAgentTest, runAgentTest } from '../../src/testing/runs/run-agent-test.ts'
import { joinTestRun } from '../../src/testing/runs/test-run.ts'
import { variations } from '../../src/testing/runs/variations.ts'
import { classify } from './sample-session.ts'

const identity = { file: 'a.test.ts', name: 'agent' }

beforeAll(async () => {
  process.env.PLAYHEAD_RUN_DIR = await mkdtemp(join(tmpdir(), 'playhead-agent-test-'))
})
afterAll(async () => {
  await playhead.shutdown()
  await rm(joinTestRun().folder, { recursive: true, force: true })
})

function run<Input>(options: AgentTestOptions<Input>, body: AgentTestBody<Input>) {
  return runAgentTest(identity, planAgentTest(options, ''), body)
}
const failingOn = (bad: readonly number[]) => {
  let count = 0
  return () => {
    count += 1
    if (bad.includes(count)) throw new Error(`run ${count} went wrong`)
  }
}

test('without a pass rate every run must pass, and each failing input gets a line', async () => {
  const failing = run({ inputs: ['a', 'b', 'c'], repeat: 2 }, failingOn([2, 5, 6]))
  await expect(failing).rejects.toThrow(
    /^Agent failed on 2\/3 variants:\n {2}- "b" \(2 of 2 runs\): run 2 went wrong\n.*\n {2}- "c" \(1 of 2 runs\): run 6 went wrong/,
  )
  expect(await run({ inputs: ['a'], repeat: 2 }, () => undefined)).toMatchObject({
    verdict: 'pass',
    passed: 2,
  })
})

test('a pass rate has three verdicts', async () => {
  const rate = (min: number, bad: number[], inconclusive?: 'pass' | 'fail') =>
    run({ repeat: 40, passRate: { min }, inconclusive }, failingOn(bad))
  expect(await rate(0.9, [])).toMatchObject({ verdict: 'pass', passed: 40, interval: { high: 1 } })
  // 38 of 40 reach 0.9, but not with 95% confidence.
  expect(await rate(0.9, [1, 2])).toMatchObject({ verdict: 'inconclusive', passed: 38 })
  await expect(rate(0.9, [1, 2], 'fail')).rejects.toThrow(
    /38 of 40 runs passed: 95% \[83%–99% with 95% confidence\], required 90%; inconclusive/,
  )
  await expect(rate(0.9, [1, 2, 3, 4, 5])).rejects.toThrow(/inconclusive/)
  expect(await rate(0.9, [1, 2, 3, 4, 5], 'pass')).toMatchObject({ verdict: 'inconclusive' })
  await expect(rate(0.9, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])).rejects.toThrow(/70%.*fail\./)
})

test('a sequential test stops as soon as the result is certain', async () => {
  const repeat = { max: 30, stop: 'sprt' as const }
  expect(await run({ inputs: ['a', 'b'], repeat }, () => undefined)).toMatchObject({
    verdict: 'pass',
    total: 14,
  })
  let count = 0
  const always = () => {
    count += 1
    throw new Error('no')
  }
  await expect(run({ inputs: ['a', 'b'], repeat }, always)).rejects.toThrow('Agent failed on 2/2 variants')
  expect(count).toBe(3)
})

test('no run starts once the budget is spent, and skipped runs do not count as passed', async () => {
  let count = 0
  const spend = async () => {
    count += 1
    await classify('I was charged twice')
  }
  // A run costs $0.0035.
  await expect(run({ repeat: 10, budget: { usd: 0.01 } }, spend)).rejects.toThrow(
    /3 of 3 runs passed.*inconclusive\. Cost \$0\.01.*\nThe budget ran out after 3 of 10 runs, so the result is inconclusive\./,
  )
  expect(count).toBe(3)
  await expect(run({ repeat: 10, budget: { tokens: 1_100 } }, spend)).rejects.toThrow('after 1 of 10 runs')
})

test('what the budget leaves out is inconclusive, however the runs are judged', async () => {
  const spend = () => classify('I was charged twice')
  const budget = { usd: 0.01 }
  const left =
    /3 of 3 runs passed.*inconclusive\..*\nThe budget ran out after 3 of \d+ runs, so the result is inconclusive\./
  // Three of three would be enough for a required pass rate of 30%.
  await expect(run({ repeat: 10, budget, passRate: { min: 0.3 } }, spend)).rejects.toThrow(left)
  const sequential = { repeat: { max: 30, stop: 'sprt' as const }, passRate: { min: 0.9 } }
  await expect(run({ ...sequential, budget }, spend)).rejects.toThrow(left)
  expect(await run({ repeat: 10, budget, inconclusive: 'pass' }, spend)).toMatchObject({
    verdict: 'inconclusive',
    isFailed: false,
    passed: 3,
    total: 3,
    planned: 10,
  })
  // The last run spends the budget, and nothing is left out.
  expect(await run({ repeat: 3, budget }, spend)).toMatchObject({ verdict: 'pass', total: 3 })
})

test('a budget that can not be kept says so', async () => {
  const unpriced = () =>
    playhead.record(new playhead.LLMEvent({ model: 'house-model', usage: { input: 10, output: 1 } }))
  expect(await run({ repeat: 2, budget: { usd: 0.01 } }, unpriced)).toMatchObject({
    verdict: 'pass',
    note: 'The budget in US dollars does not include all calls of 2 runs, because their price is unknown.',
  })
})

test('an inconclusive test says why it failed', async () => {
  const failing = (inconclusive?: 'fail') =>
    run({ repeat: 40, passRate: { min: inconclusive ? 0.9 : 0.98 }, inconclusive }, failingOn([1, 2]))
  await expect(failing('fail')).rejects.toThrow("which counts as failed here (inconclusive: 'fail').")
  await expect(failing()).rejects.toThrow('fewer runs passed than the required 98%.')
})

test('concurrent runs have separate sessions and respect the limit', async () => {
  let [running, most] = [0, 0]
  const ids = new Set<string>()
  const body: AgentTestBody<string> = async ({ input, session }) => {
    running += 1
    most = Math.max(most, running)
    ids.add(session.id)
    await classify(input)
    expectSession(session).toHaveCalled('classify_intent', { args: [input], times: 1 })
    running -= 1
  }
  const entry = await run({ inputs: ['a', 'b', 'c', 'd'], repeat: 3, concurrency: 4 }, body)
  expect([entry.passed, ids.size, most]).toEqual([12, 12, 4])
  expect(entry.passHatK).toEqual([1, 1, 1])
})

test('a run that times out fails and its signal is aborted', async () => {
  let isAborted = false
  const slow: AgentTestBody<unknown> = ({ signal }) =>
    new Promise((resolve) => {
      signal.addEventListener('abort', () => {
        isAborted = true
        resolve(undefined)
      })
    })
  await expect(run({ timeout: '20ms' }, slow)).rejects.toThrow('The run timed out after 20 ms')
  expect(isAborted).toBe(true)
})

test('the result of every run is saved for the report', async () => {
  const { folder } = joinTestRun()
  await expect(run({ inputs: [{ name: 'first' }, { x: 1 }] }, failingOn([2]))).rejects.toThrow(
    'Agent failed on 1/2',
  )
  const files = (await readdir(folder)).filter((name) => name.endsWith('.results.jsonl'))
  const lines = (await readFile(join(folder, files[0]!), 'utf8')).trim().split('\n')
  const entries = lines.slice(-3).map((line) => JSON.parse(line) as TestResult)
  expect(entries).toMatchObject([
    { kind: 'attempt', test: identity, variant: 'first', isPassed: true },
    { kind: 'attempt', variant: '{"x":1}', isPassed: false, message: 'run 2 went wrong' },
    { kind: 'agent-test', verdict: 'fail', passed: 1, total: 2, planned: 2, passAtK: [0.5] },
  ])
})

test('an agent that calls init itself is recorded to the same folder', async () => {
  const { folder } = joinTestRun()
  playhead.init()
  await playhead.withSession({ name: 'own init' }, () => classify('hello'))
  await playhead.flush()
  expect(playhead.getSession().url === '' || playhead.getSession().url.startsWith('file:')).toBe(true)
  expect((await readdir(folder)).filter((name) => name.endsWith('.jsonl')).length).toBeGreaterThan(5)
})

test('variations are distinct, start with the original, and depend only on the seed', () => {
  const make = (text: string, seed: number) => [
    ...variations(text, { seed })
      .typos({ count: 5 })
      .caseAndPunctuation()
      .reorderSentences()
      .distractor('Also, hello?')
      .unicode()
      .paraphrases(['money back']),
  ]
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), fc.integer(), (text, seed) => {
      const made = make(text, seed)
      expect(made).toEqual(make(text, seed))
      expect(new Set(made).size).toBe(made.length)
      expect(made[0]).toBe(text)
    }),
  )
  const text = 'I was charged twice. Please refund invoice in_7.'
  const made = make(text, 1)
  expect(made.length).toBeGreaterThan(14)
  expect(made).toContain('Please refund invoice in_7. I was charged twice.')
  expect(made).toContain('i was charged twice. please refund invoice in_7.')
  expect(made).toContain(`${text} Also, hello?`)
  expect(make(text, 2)).not.toEqual(made)
  const [, ...typos] = variations(text).typos({ rate: 0.05, count: 3 })
  for (const typo of typos) expect(Math.abs(typo.length - text.length)).toBeLessThanOrEqual(3)
})
