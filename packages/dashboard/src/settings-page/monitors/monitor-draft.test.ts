import { expect, test } from 'vitest'
import type { Condition, Monitor } from '@playhead/model'
import { draftOf, newDraft, toChange, toMonitor, type MonitorDraft } from './monitor-draft.ts'

const read = (draft: Partial<MonitorDraft>) => toMonitor({ ...newDraft, ...draft })

test('the blanks of the sentence become a monitor with a name', () => {
  expect(read({ filter: 'tag:support', wait: '5m' })).toEqual({
    monitor: {
      name: 'Failure rate',
      filter: { tag: ['support'] },
      condition: {
        kind: 'rate',
        measure: 'failure-rate',
        is: 'above',
        limit: 0.05,
        windowMs: 3_600_000,
        minimum: 20,
      },
      forMs: 300_000,
    },
  })
  expect(read({ kind: 'rule', action: 'issue_refund', before: 'verify_identity' })).toMatchObject({
    monitor: {
      name: 'issue_refund without verify_identity',
      condition: { rule: { kind: 'never', action: 'issue_refund', before: 'verify_identity' }, sessions: 1 },
    },
  })
  expect(read({ measure: 'p95', limit: '8s' })).toMatchObject({ monitor: { condition: { limit: 8_000 } } })
  expect(read({ kind: 'rule', ruleKind: 'only', action: 'a, b ,' })).toMatchObject({
    monitor: { condition: { rule: { actions: ['a', 'b'] } } },
  })
})

test.each<[Partial<MonitorDraft>, string]>([
  [{ window: 'long' }, 'The window must be a duration from 1m to 30d.'],
  [{ limit: 'high' }, 'The limit must be like 5%.'],
  [{ measure: 'score', limit: '0.5' }, 'Name the score, for example helpful.'],
  [{ kind: 'rule' }, 'Name the action, for example issue_refund.'],
  [{ kind: 'rule', ruleKind: 'duration', number: 'x' }, 'How long may a session take, for example 60s?'],
  [
    { filter: 'status:broken' },
    'status must be success, fail, indeterminate, running or lost, not “broken”.',
  ],
])('%o: what is missing', (draft, problem) => {
  expect(read(draft)).toEqual({ problem })
})

const HOUR = 3_600_000
const saved = (condition: Condition, more: Partial<Monitor> = {}): Monitor => ({
  id: 'saved',
  name: 'Saved',
  filter: {},
  condition,
  forMs: 0,
  isPaused: false,
  isFromFile: false,
  ...more,
})
const rate = { kind: 'rate', is: 'above', windowMs: HOUR, minimum: 0 } as const
const rule = (of: Extract<Condition, { kind: 'rule' }>['rule']): Condition => ({
  kind: 'rule',
  rule: of,
  windowMs: 90_000,
  sessions: 3,
})

test.each<Condition>([
  { ...rate, measure: 'failure-rate', limit: 0.073 },
  { ...rate, measure: 'cost', limit: 0.0000005, is: 'below' },
  { ...rate, measure: 'p95', limit: 1_500 },
  { ...rate, measure: 'count', limit: 100_000, minimum: 20 },
  { ...rate, measure: 'score', score: 'helpful', limit: 0.8 },
  { ...rate, measure: 'cost', limit: -0.5, isChange: true },
  rule({ kind: 'never', action: 'refund' }),
  rule({ kind: 'never', action: 'refund', before: 'verify' }),
  rule({ kind: 'always', action: 'verify' }),
  rule({ kind: 'at-most', times: 3 }),
  rule({ kind: 'at-most', times: 3, action: 'search' }),
  rule({ kind: 'only', actions: ['a', 'b'] }),
  rule({ kind: 'cost', atMost: 0.05 }),
  rule({ kind: 'duration', atMostMs: 60_000 }),
  rule({ kind: 'no-errors' }),
  rule({ kind: 'no-finding', findings: ['loop', 'bad-argument'] }),
  rule({ kind: 'score', name: 'helpful', atLeast: 0.5 }),
  { kind: 'silence', windowMs: HOUR / 2 },
  { kind: 'issue', windowMs: 24 * HOUR },
])('a saved monitor fills in the blanks: %o', (condition) => {
  const monitor = saved(condition, { filter: { tag: ['a b', 'c'], text: 'status: "x"' }, forMs: 90_000 })
  expect(toMonitor(draftOf(monitor))).toEqual({
    monitor: { name: 'Saved', filter: monitor.filter, condition, forMs: 90_000 },
  })
  expect(toChange(monitor, draftOf(monitor))).toEqual({})
})

test('only what somebody changed is saved, so that a monitor that fires goes on firing', () => {
  const monitor = saved({ kind: 'silence', windowMs: HOUR }, { filter: { tag: 'support' }, destinations: [] })
  const draft = draftOf(monitor)
  expect(toChange(monitor, { ...draft, name: 'Quiet' })).toEqual({ name: 'Quiet' })
  expect(toChange(monitor, { ...draft, tells: 'all' })).toEqual({ destinations: null })
  expect(toChange(monitor, { ...draft, filter: '' })).toEqual({ filter: {} })
  expect(toChange(monitor, { ...draft, window: '2h' })).toEqual({
    condition: { kind: 'silence', windowMs: 2 * HOUR },
  })
  expect(toChange(monitor, { ...draft, window: 'x' })).toBeUndefined()
})
