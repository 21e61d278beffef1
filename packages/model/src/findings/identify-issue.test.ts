import { expect, test } from 'vitest'
import { agentRun, does, fails, says } from '../../test/agent-run.ts'
import { judgeSession } from './diagnose-session.ts'

const tools = ['refund_order', 'get_invoice', 'send_mail', 'read_file', 'run_query']
const messages = [
  (number: number) => `order o_${number} is locked since ${number} ms`,
  (number: number) => `connection to 10.0.0.${number}:${5000 + number} timed out`,
]

const failing = (tool: string, message: string, id: string) =>
  agentRun([says('', { [tool]: { id } }), fails(tool, { id }, message)], { endState: 'fail' })

const looping = (tool: string, query: string) => {
  const call = [says('', { [tool]: { query } }), does(tool, { query }, [])]
  return agentRun([...call, ...call, ...call, ...call], { endState: 'fail' })
}

test('failures of the same shape are one issue, whatever their ids and numbers, and other shapes are others', () => {
  const issues = new Map<string, number>()
  for (const number of [1, 7, 23, 99, 100, 256, 4096, 9999, 10_000, 123_456])
    for (const tool of tools)
      for (const run of [
        ...messages.map((message) => failing(tool, message(number), `o_${number}`)),
        looping(tool, `word ${number}`),
      ]) {
        const { issue } = judgeSession(run)
        issues.set(issue!.id, (issues.get(issue!.id) ?? 0) + 1)
      }
  expect([...issues.values()]).toEqual(Array.from({ length: 15 }, () => 10))
})

test('a session that is fine, and a re-run, belong to no issue', () => {
  const fine = agentRun([says('All is well.')])
  const rerun = failing('refund_order', 'it is locked', 'o_1')
  rerun.session.parentId = 'a'.repeat(32)
  expect([fine, rerun].map((run) => judgeSession(run).issue)).toEqual([undefined, undefined])
})

test('a failure stays the same issue, whatever the other sessions of its name did', () => {
  const run = looping('search_help', 'refund policy')
  const { issue, nodes } = judgeSession(run)
  const many = <Value>(value: Value) => Array.from({ length: 30 }, () => value)
  // Together, what it is compared with speaks against the first step more than the loop does against the second.
  const compared = judgeSession(run, {
    peers: { passed: many(['another act']), failed: many(nodes) },
    usual: { durationMs: many(1), cost: [], stepCount: many(1) },
  })
  expect(compared.suspects[0]!.sentence).not.toContain('4 times')
  expect(compared.issue).toEqual(issue)
})
