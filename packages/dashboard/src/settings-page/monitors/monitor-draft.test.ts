import { expect, test } from 'vitest'
import { newDraft, toMonitor, type MonitorDraft } from './monitor-draft.ts'

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
