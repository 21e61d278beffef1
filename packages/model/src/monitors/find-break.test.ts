import { expect, test } from 'vitest'
import { agentRun, does, fails, says } from '../../test/agent-run.ts'
import type { Findings } from '../findings/finding.ts'
import type { Session } from '../session/session.ts'
import { breakFinder } from './find-break.ts'
import { checkRule, type Rule } from './rule.ts'

const noFindings: Findings = { findings: [], suspects: [] }
const search = (given: unknown) => does('search', given, 'nothing')
const refund = does('issue_refund', { order: 7 }, 'done')
const verify = does('verify_identity', {}, true)

const sessions: Record<string, Session> = {
  empty: agentRun([]),
  'right order': agentRun([says('Hello'), verify, refund]),
  'wrong order': agentRun([refund, verify]),
  'two refunds': agentRun([verify, refund, refund]),
  'a refund before and after': agentRun([refund, verify, refund]),
  'the same search': agentRun([search('a'), search('a'), search('a')]),
  'other searches': agentRun([search('a'), search('b'), search('c')]),
  failed: agentRun([fails('issue_refund', {}, 'no such order')], { endState: 'fail' }),
  'failed and handled': agentRun([
    fails('search', 'a', 'busy', { error: { type: 'Error', message: 'busy', isHandled: true } }),
    search('a'),
  ]),
  cheap: agentRun([verify], { session: { cost: 0.05 } }),
  dear: agentRun([verify], { session: { cost: 0.06 } }),
  'without a price': agentRun([verify], { session: { cost: 0.01, unpricedModels: ['house-llama'] } }),
  'in time': agentRun([verify], { session: { durationMs: 60_000 } }),
  late: agentRun([verify], { session: { durationMs: 60_001 } }),
  'without an end': agentRun([verify, refund], { session: { durationMs: null } }),
  running: agentRun([verify], { endState: 'running', session: { durationMs: null } }),
  scored: agentRun([verify], {
    session: { scores: [{ id: '1', name: 'helpful', value: 0.4, source: 'person', at: '' }] },
  }),
}

const rules: Rule[] = [
  { kind: 'never', action: 'issue_refund' },
  { kind: 'never', action: 'issue_refund', before: 'verify_identity' },
  { kind: 'always', action: 'verify_identity' },
  { kind: 'at-most', times: 2 },
  { kind: 'at-most', times: 2, action: 'search' },
  { kind: 'at-most', times: 1, action: 'issue_refund' },
  { kind: 'only', actions: ['verify_identity', 'search'] },
  { kind: 'cost', atMost: 0.05 },
  { kind: 'cost', atMost: 0 },
  { kind: 'duration', atMostMs: 60_000 },
  { kind: 'duration', atMostMs: 100 },
  { kind: 'no-errors' },
  { kind: 'no-finding', findings: ['loop'] },
  { kind: 'score', name: 'helpful', atLeast: 0.5 },
]

test.each(Object.entries(sessions))(
  '%s: finds what the matchers call broken, and nothing else',
  (_, session) => {
    for (const nowMs of [0, Date.parse(session.session.startedAt || '2026-01-01') + 61_000]) {
      const found = { ...noFindings, nowMs }
      const find = breakFinder(session, found)
      for (const rule of rules) {
        const verdict = checkRule(rule, session, found)
        expect([rule, find(rule)]).toEqual([rule, verdict?.pass === false ? verdict : undefined])
      }
    }
  },
)

test('each rule is broken by one of these sessions and kept by another, or the comparison shows nothing', () => {
  const broken = rules.map((rule) => {
    const verdicts = Object.values(sessions).map((session) => breakFinder(session, noFindings)(rule))
    return { kind: rule.kind, isBroken: verdicts.some(Boolean), isKept: verdicts.includes(undefined) }
  })
  // Findings are not made here.
  const expected = rules.map(({ kind }) => ({ kind, isBroken: kind !== 'no-finding', isKept: true }))
  expect(broken).toEqual(expected)
})
