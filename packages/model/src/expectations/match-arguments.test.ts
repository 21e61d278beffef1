import { describe, expect, test } from 'vitest'
import { findMismatch, type ExpectedArguments } from './match-arguments.ts'

/** What is recorded for each style of `change`, and the arguments that a test may expect of it. */
const change = { customerId: 'c_42', plan: 'pro' }
const styles: [style: string, recorded: unknown, matching: ExpectedArguments[]][] = [
  [
    '(customerId, plan), ({ customerId, plan }) or (customerId, { plan })',
    change,
    [
      ['c_42'],
      ['c_42', 'pro'],
      [{ customerId: 'c_42' }],
      [{ plan: 'pro', customerId: /^c_/ }],
      ['c_42', { plan: 'pro' }],
      [expect.any(String), expect.objectContaining({ plan: 'pro' })],
      [({ plan }: { plan: string }) => plan.startsWith('p')],
      [(id: string) => id.startsWith('c_')],
      { customerId: 'c_42' },
      { plan: 'pro', customerId: 'c_42' },
      { 0: 'c_42' },
    ],
  ],
  ['(order)', { order: change }, [[change], { order: { plan: 'pro' } }, { plan: 'pro' }, [{ plan: 'pro' }]]],
  [
    '(order, { plan })',
    { order: { id: 7 }, plan: 'pro' },
    [
      [{ id: 7 }, { plan: 'pro' }],
      [{ id: 7 }, 'pro'],
    ],
  ],
  ['(...items)', { items: ['a', 'b'] }, [['a'], ['a', 'b'], [['a', 'b']], { items: ['a', 'b'] }]],
  ['(id, [low, high])', { '1': [1, 9], id: 'c_42' }, [['c_42', [1, 9]], { id: 'c_42' }, { 1: [1, 9] }]],
  ['unknown names', ['c_42', { plan: 'pro' }], [['c_42', { plan: 'pro' }], { 0: 'c_42' }]],
]

describe.each(styles)('the arguments of %s', (_, recorded, matching) => {
  test.each(matching.map((expected) => [expected]))('match %o', (expected) => {
    expect(findMismatch(recorded, expected)).toBeUndefined()
  })
})

test.each<[what: string, recorded: unknown, expected: ExpectedArguments, path: string]>([
  ['a value at a position', change, ['c_1'], 'customerId'],
  ['a property of a destructured object', change, [{ customerId: 'c_1' }], 'customerId'],
  ['a property of the last object', change, ['c_42', { plan: 'free' }], 'plan'],
  ['a property of the only argument', { order: change }, { plan: 'free' }, 'plan'],
  ['a name that was not recorded', change, { seats: 2 }, 'seats'],
  ['an item of a rest parameter', { items: ['a', 'b'] }, ['a', 'c'], 'items'],
])('a mismatch in %s is found under its name', (_, recorded, expected, path) => {
  expect(findMismatch(recorded, expected)?.path).toBe(path)
})

test.each<[recorded: unknown, expected: ExpectedArguments, isMatching: boolean]>([
  [change, ['c_42', 'pro'], true],
  [change, ['c_42'], false],
  [change, [{ customerId: 'c_42', plan: 'pro' }], true],
  [change, [{ customerId: 'c_42' }], false],
  [change, ['c_42', { plan: 'pro' }], true],
  [{ items: ['a', 'b'] }, ['a', 'b'], true],
  [{ items: ['a', 'b'] }, ['a'], false],
])('exactly: %o and %o', (recorded, expected, isMatching) => {
  expect(findMismatch(recorded, expected, { mode: 'exact' }) === undefined).toBe(isMatching)
})

test('a pattern with the flag g matches every time', () => {
  const pattern = /^c_\d+$/g
  expect([1, 2, 3].map(() => findMismatch(change, { customerId: pattern }))).toEqual([
    undefined,
    undefined,
    undefined,
  ])
})

test('an async function would match anything, so it is an error', () => {
  const sentence = 'A function that checks arguments must not be async: it returned a promise.'
  const never = async () => Promise.reject(new Error('never seen'))
  for (const expected of [never as never, [never], { customerId: never }])
    expect(() => findMismatch(change, expected)).toThrow(new TypeError(sentence))
})

test('a time that is none matches none', () => {
  expect(findMismatch({ at: '2026-01-01T00:00:00.000Z' }, { at: new Date(Number.NaN) })?.path).toBe('at')
})
