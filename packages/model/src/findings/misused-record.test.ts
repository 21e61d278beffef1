import { describe, expect, test } from 'vitest'
import { agentRun, does, says } from '../../test/agent-run.ts'
import { diagnoseSession } from './diagnose-session.ts'
import { firstSuspect } from '../../test/first-suspect.ts'

const order = (id: string, status: string) => [
  says('', { get_order: { id } }),
  does('get_order', { id }, { order_id: id, status, total: 120.5 }),
]
const failed = { endState: 'fail' as const }
const sentencesOf = (...given: Parameters<typeof agentRun>) =>
  diagnoseSession(agentRun(...given)).findings.map(({ sentence }) => sentence)

describe('a state', () => {
  test('that contradicts the result is a finding', () => {
    const run = agentRun(
      [...order('W1234', 'processed'), says('Delivered orders (W1234): these can be exchanged.')],
      failed,
    )
    expect(firstSuspect(run)).toEqual({
      step: 's2',
      kind: 'fail-plausible',
      sentence: 'Step 3 assistant calls W1234 delivered, but step 2 get_order returned "processed".',
    })
  })

  test.each([
    ['is the one of the result', 'Your order W1234 is processed.'],
    ['is only a possibility', 'If W1234 is delivered, you can return it.'],
    ['is one that the agent will bring about', 'Your order W1234 will be cancelled.'],
  ])('that %s is none', (_, words) => {
    expect(sentencesOf([...order('W1234', 'processed'), says(words)], failed).join(' ')).not.toContain(
      'calls W1234',
    )
  })

  test('that a change may have brought about is none', () => {
    const run = [
      ...order('W1234', 'pending'),
      says('', { cancel_order: { id: 'W1234' } }),
      does('cancel_order', { id: 'W1234' }, 'ok'),
      says('Your order W1234 is cancelled.'),
    ]
    expect(sentencesOf(run, failed).join(' ')).not.toContain('calls W1234')
  })
})

describe('a record that can not be used', () => {
  const products = [
    says('', { get_product: { id: 'p' } }),
    does('get_product', { id: 'p' }, [
      { item_id: 'I-1001', available: false, price: 46.66 },
      { item_id: 'I-1002', available: true, price: 52.1 },
    ]),
  ]
  const sum = (expression: string) => [
    says('', { calculate: { expression } }),
    does('calculate', { expression }, '98.76'),
  ]

  test('is a finding if a call uses its price or id', () => {
    expect(firstSuspect(agentRun([...products, ...sum('46.66 + 52.1')], failed))).toEqual({
      step: 's2',
      kind: 'bad-argument',
      sentence: 'Step 4 calculate got 46.66, but step 2 get_product says that I-1001 is not available.',
    })
  })

  test('is none if another one is used, or if the user named it', () => {
    expect(sentencesOf([...products, ...sum('52.1 + 1')], failed).join(' ')).not.toContain('not available')
    const asked = { ...failed, request: 'What do I pay for the one at 46.66 with tax?' }
    expect(sentencesOf([...products, ...sum('46.66 * 1.2')], asked).join(' ')).not.toContain('not available')
  })
})

describe('a claim that all is done', () => {
  const CLAIM = 'All updates are completed now, and your orders have the new address.'
  const change = (id: string) => [
    says('', { update_order: { id } }),
    does('update_order', { id }, 'ok', { effect: 'write' }),
  ]
  const orders = [...order('W1111', 'pending'), ...order('W2222', 'pending'), ...order('W3333', 'pending')]

  test('is a finding if one was left out', () => {
    const run = [...orders, ...change('W1111'), ...change('W2222'), says(CLAIM)]
    expect(sentencesOf(run, failed)).toContainEqual(
      expect.stringContaining('but update_order was never called for W3333, which is pending too.'),
    )
  })

  test('is none if none was, or if the rest is in another state', () => {
    const all = [...orders, ...change('W1111'), ...change('W2222'), ...change('W3333')]
    expect(sentencesOf([...all, says(CLAIM)], failed).join(' ')).not.toContain('never called for')
    const other = [...order('W1111', 'pending'), ...order('W2222', 'pending'), ...order('W3333', 'shipped')]
    const run = [...other, ...change('W1111'), ...change('W2222'), says(CLAIM)]
    expect(sentencesOf(run, failed).join(' ')).not.toContain('never called for')
  })
})
