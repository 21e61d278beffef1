import { expect, test } from 'vitest'
import { agentRun, says } from '../../test/agent-run.ts'
import { firstSuspect, nothing } from '../../test/first-suspect.ts'
import { diagnoseSession } from './diagnose-session.ts'

const usual = {
  durationMs: Array.from({ length: 30 }, (_, index) => 900 + index * 10),
  cost: [],
  stepCount: [],
}
const run = (durationMs: number) =>
  agentRun([says('Hello, how can I help you today?')], { session: { durationMs } })

test('fires far outside of what sessions of the name take', () => {
  expect(firstSuspect(run(60_000), { usual })).toMatchObject({
    kind: 'outlier',
    sentence: expect.stringContaining('30 others'),
  })
})

test('stays silent within the usual, and with too few sessions to tell', () => {
  expect(diagnoseSession(run(1_800), { usual })).toEqual(nothing)
  const few = { ...usual, durationMs: usual.durationMs.slice(0, 5) }
  expect(diagnoseSession(run(60_000), { usual: few })).toEqual(nothing)
})
