import { expect, test } from 'vitest'
import { agentRun, does, fails, says } from '../../test/agent-run.ts'
import { firstSuspect, nothing } from '../../test/first-suspect.ts'
import { diagnoseSession } from './diagnose-session.ts'

test('blames the model that called a tool with arguments that it refused', () => {
  const run = agentRun(
    [
      says('', { get_order: { id: 'O-1' } }),
      does('get_order', { id: 'O-1' }, { id: 'O-1', total: 20 }),
      says('', { refund: { order: 'O-1', amount: 200 } }),
      fails('refund', { order: 'O-1', amount: 200 }, 'amount must not be more than 20'),
    ],
    { endState: 'fail' },
  )
  expect(firstSuspect(run)).toEqual({
    step: 's2',
    kind: 'error',
    sentence: 'Step 3 assistant called refund in a way that failed: Error: amount must not be more than 20.',
  })
})

test('blames the tool itself when it is the tool that broke', () => {
  const run = agentRun([fails('send_mail', { to: 'a@b.c' }, 'connection reset by peer')], {
    endState: 'fail',
  })
  expect(firstSuspect(run)).toMatchObject({ step: 's0', kind: 'error' })
})

test('a message that ends with a full stop does not double it', () => {
  const run = agentRun([fails('send_mail', {}, 'The server is down.')], { endState: 'fail' })
  expect(firstSuspect(run)?.sentence).toMatch(/failed: Error: The server is down\.$/)
})

test('blames the earlier change that made a later one impossible', () => {
  const run = agentRun(
    [
      says('', { modify_items: { order: '#W1001' } }),
      does('modify_items', { order: '#W1001' }, 'ok', { effect: 'write' }),
      says('', { modify_address: { order: '#W1001' } }),
      fails('modify_address', { order: '#W1001' }, 'non-pending order cannot be modified', {
        effect: 'write',
      }),
      says('I could not change the address, because the order is locked now.'),
    ],
    { endState: 'fail' },
  )
  expect(firstSuspect(run)).toMatchObject({ step: 's0' })
})

test('stays silent about an error that was caught and retried', () => {
  const run = agentRun([
    says(
      '',
      { search: { query: 'shoes' } },
      { status: 'error', error: { type: 'RateLimitError', message: '429', isHandled: true } },
    ),
    says('', { search: { query: 'shoes' } }),
    fails('search', { query: 'shoes' }, '503 service unavailable'),
    says('', { search: { query: 'shoes' } }),
    does('search', { query: 'shoes' }, [{ id: 'p_1' }]),
    says('I found one pair of shoes for you.'),
  ])
  expect(diagnoseSession(run)).toEqual(nothing)
})
