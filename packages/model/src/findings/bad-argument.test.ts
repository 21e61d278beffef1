import { expect, test } from 'vitest'
import { agentRun, does, fails, offers, says } from '../../test/agent-run.ts'
import { firstSuspect, nothing } from '../../test/first-suspect.ts'
import { diagnoseSession } from './diagnose-session.ts'

test('blames the step that returned null, not the one that failed on it', () => {
  const run = agentRun(
    [
      does('extract_customer_id', 'I was charged twice', null),
      fails('fetch_customer_data', { customer_id: null }, 'customer_id cannot be None'),
    ],
    { endState: 'fail' },
  )
  expect(firstSuspect(run)).toMatchObject({
    step: 's0',
    kind: 'bad-argument',
    sentence:
      'Step 1 extract_customer_id returned null; step 2 fetch_customer_data got customer_id = null and failed.',
  })
})

test('blames the model that made up an id', () => {
  const run = agentRun([
    says('', { get_invoice: { id: 'INV-99121' } }),
    fails('get_invoice', { id: 'INV-99121' }, 'no such invoice'),
    says('I am sorry, I cannot find your invoice.'),
  ])
  expect(firstSuspect(run)).toMatchObject({ step: 's0', kind: 'bad-argument' })
})

test('blames the model that called with a placeholder', () => {
  const run = agentRun([
    says('', { get_weather: { key: 'YOUR_API_KEY', city: 'Rome' } }),
    fails('get_weather', { key: 'YOUR_API_KEY', city: 'Rome' }, '401'),
    says('I am sorry, the weather service does not answer.'),
  ])
  expect(firstSuspect(run)).toMatchObject({
    step: 's0',
    kind: 'bad-argument',
    sentence: expect.stringContaining('YOUR_API_KEY'),
  })
})

test('blames the model that called a tool it was not offered', () => {
  const run = agentRun([
    says('', { delete_account: {} }, offers('get_account')),
    says('I am sorry, there was a problem.'),
  ])
  expect(firstSuspect(run)).toMatchObject({
    step: 's0',
    kind: 'bad-argument',
    sentence: 'Step 1 assistant called delete_account, which it was not offered.',
  })
})

test('blames the model whose arguments break the schema', () => {
  const parameters = { type: 'object', required: ['city'], properties: { days: { type: 'integer' } } }
  const run = agentRun([
    says('', { forecast: { days: 'three' } }, { toolDefinitions: [{ name: 'forecast', parameters }] }),
    fails('forecast', { days: 'three' }, 'bad request'),
    says('I am sorry, I could not get the forecast.'),
  ])
  expect(firstSuspect(run)?.sentence).toContain('no city')
})

test('stays silent about a value that stands in the request, and about optional nulls of calls that work', () => {
  const run = agentRun(
    [
      says('', { get_invoice: { id: 'INV-99121', currency: null } }),
      does('get_invoice', { id: 'INV-99121', currency: null }, { total: 20 }),
      says('Your invoice is over 20 dollars.'),
    ],
    { request: 'What is INV-99121 about?' },
  )
  expect(diagnoseSession(run)).toEqual(nothing)
})

test('stays silent about a call that was corrected', () => {
  const run = agentRun([
    says('', { get_invoice: { id: 'INV-99121' } }),
    fails('get_invoice', { id: 'INV-99121' }, 'no such invoice'),
    says('', { get_invoice: { id: 'INV-7' } }),
    does('get_invoice', { id: 'INV-7' }, { total: 20 }),
    says('Your invoice is over 20 dollars.'),
  ])
  expect(diagnoseSession(run)).toEqual(nothing)
})

test('a missing value that the agent told the user about is a finding, but no suspect', () => {
  const run = agentRun([
    says('', { fetch_customer: { customer_id: null } }),
    fails('fetch_customer', { customer_id: null }, 'customer_id cannot be null'),
    says('Sorry, I could not look up that customer.'),
  ])
  expect(diagnoseSession(run)).toMatchObject({
    findings: [{ kind: 'bad-argument', stepId: 's0' }],
    suspects: [],
  })
})
