import { expect, test } from 'vitest'
import { agentRun, does, says } from '../../test/agent-run.ts'
import { firstSuspect, nothing } from '../../test/first-suspect.ts'
import { diagnoseSession } from './diagnose-session.ts'

const request = 'What did my flight cost?'
test('fires when nothing was found and the answer has figures', () => {
  const run = agentRun(
    [
      says('', { search_flights: { user: 'ada' } }),
      does('search_flights', { user: 'ada' }, []),
      says('Your flight cost 412.50 dollars in total.'),
    ],
    { request },
  )
  expect(firstSuspect(run)).toMatchObject({ step: 's2', kind: 'fail-plausible' })
})

test('stays silent when the figures were found', () => {
  const run = agentRun(
    [
      says('', { search_flights: { user: 'ada' } }),
      does('search_flights', { user: 'ada' }, [{ price: 412.5 }]),
      says('Your flight cost 412.5 dollars in total.'),
    ],
    { request },
  )
  expect(diagnoseSession(run)).toEqual(nothing)
})

test('stays silent when the answer says that nothing was found', () => {
  const run = agentRun(
    [
      says('', { search_flights: { user: 'ada' } }),
      does('search_flights', { user: 'ada' }, []),
      says('I found no flight of yours, sorry.'),
    ],
    { request },
  )
  expect(diagnoseSession(run)).toEqual(nothing)
})
