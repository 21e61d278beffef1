import { expect, test } from 'vitest'
import { failed, outline, SESSION_START } from '../../test/outline.ts'
import { presentStep } from '../assembly/present-step.ts'
import { findProblems } from './problem.ts'
import type { Step } from './step.ts'

function failedAction(given: unknown, message = 'it broke'): Step {
  const step = { ...failed({ id: 'tool', kind: 'action', message }), depth: 0 }
  const tool = { name: 'fetch_customer_data', arguments: given }
  return presentStep(step, { startedAtMs: SESSION_START }, { tool, attributes: {} })
}

function pathsOf(given: unknown, message?: string): string[] {
  return findProblems(failedAction(given, message)).map(({ path }) => path)
}

test('null, empty and missing arguments are problems of a failed action', () => {
  const problems = findProblems(
    failedAction({
      id: null,
      name: '',
      plan: 'None',
      amount: 'NaN',
      note: 'nothing is null here',
      count: 0,
      isNew: false,
      address: { street: '  ', city: 'Paris' },
      items: ['a', null],
    }),
  )

  expect(problems).toEqual([
    { path: 'id', value: null, why: 'null was passed' },
    { path: 'name', value: '', why: 'an empty string was passed' },
    { path: 'plan', value: 'None', why: 'the string "None" was passed' },
    { path: 'amount', value: 'NaN', why: 'the string "NaN" was passed' },
    { path: 'address.street', value: '  ', why: 'an empty string was passed' },
    { path: 'items[1]', value: null, why: 'null was passed' },
  ])
})

test('a successful action has no problems, nor has a step of another kind', () => {
  const given = { customer_id: null }
  const fine = presentStep(
    { ...outline({ id: 'a', kind: 'action' }), depth: 0 },
    { startedAtMs: SESSION_START },
    { tool: { name: 'x', arguments: given }, attributes: {} },
  )
  const call = { ...failedAction(given), kind: 'llm' as const }

  expect([findProblems(fine), findProblems(call)]).toEqual([[], []])
})

test('when the error names an argument, only that one is a problem', () => {
  expect(pathsOf({ customer_id: null, middle_name: null }, 'customer_id cannot be None')).toEqual([
    'customer_id',
  ])
  expect(pathsOf({ customer: { id: null, vip: null } }, 'null value in column "id"')).toEqual(['customer.id'])
  expect(pathsOf({ filters: {}, limit: 5 }, 'filters must not be empty')).toEqual(['filters'])
})

test('an argument that the error requires and that was not passed is a problem', () => {
  const messages = [
    "fetch() missing 1 required positional argument: 'customer_id'",
    'customer_id is required',
    "must have required property 'customer_id'",
    'Missing required parameter: customer_id.',
    '[{"code":"invalid_type","expected":"string","received":"undefined","path":["customer_id"],"message":"Required"}]',
    '1 validation error for Input\ncustomer_id\n  Field required [type=missing]',
    'customer_id must be provided',
  ]

  expect(messages.map((message) => findProblems(failedAction({ limit: 1 }, message)))).toEqual(
    messages.map(() => [
      { path: 'customer_id', value: undefined, why: 'the error requires it, but it was not passed' },
    ]),
  )
})

test('an error that names a valid argument, or none, reports no problem', () => {
  expect(pathsOf({ customer_id: 'c_42' }, 'customer_id is required')).toEqual([])
  expect(pathsOf({ customer_id: 'c_42' }, 'This field is required')).toEqual([])
  expect(pathsOf(undefined, 'customer_id is required')).toEqual([])
  expect(pathsOf({ customer_id: 'c_42' }, 'A signature is required to continue')).toEqual([])
})

test('an empty object is a problem only as the sole argument', () => {
  expect(pathsOf({ filters: {} })).toEqual(['filters'])
  expect(pathsOf({ filters: {}, limit: 1 })).toEqual([])
  expect(pathsOf({ options: [], id: null })).toEqual(['id'])
})

test('arguments are read in every recorded form', () => {
  expect(pathsOf('{"customer_id":null}')).toEqual(['customer_id'])
  expect(pathsOf([null, 'x'])).toEqual(['[0]'])
  expect(pathsOf({ args: [null], kwargs: {} })).toEqual(['[0]'])
  expect(pathsOf({ args: [], kwargs: { customer_id: null } })).toEqual(['customer_id'])
  expect(pathsOf({ args: [null], kwargs: { limit: 1 } })).toEqual(['0'])
  expect(pathsOf(null)).toEqual([''])
  expect(pathsOf(undefined)).toEqual([])
  expect(pathsOf('not { json')).toEqual([])
})

test('a cyclic value is searched only to a limited depth', () => {
  const circular: Record<string, unknown> = { id: null }
  circular['self'] = circular

  expect(pathsOf(circular).slice(0, 2)).toEqual(['id', 'self.id'])
})

test.each([
  ['customerId', 'customer_id cannot be null'],
  ['customer_id', 'customerId is required'],
  ['id', 'customer_id cannot be null'],
])('%s is the argument that "%s" names', (name, message) => {
  expect(pathsOf({ [name]: null, order_id: null }, message)).toEqual([name])
})
