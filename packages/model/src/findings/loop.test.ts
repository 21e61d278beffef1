import { expect, test } from 'vitest'
import { agentRun, does, says } from '../../test/agent-run.ts'
import { firstSuspect, nothing } from '../../test/first-suspect.ts'
import { diagnoseSession } from './diagnose-session.ts'

const search = (result: unknown) => [says('', { search: { q: 'x' } }), does('search', { q: 'x' }, result)]

test('says what was repeated, how often, and where it began', () => {
  const run = agentRun([...search([]), ...search([]), ...search([]), ...search([])], { endState: 'fail' })
  expect(firstSuspect(run)).toEqual({
    step: 's2',
    kind: 'loop',
    sentence:
      'search was called 4 times with the same arguments and returned the same empty result; it began at step 2.',
  })
})

test('finds two calls that alternate', () => {
  const pair = [
    says('', { read: { f: 1 } }),
    does('read', { f: 1 }, 'a'),
    says('', { scan: { f: 2 } }),
    does('scan', { f: 2 }, 'b'),
  ]
  // Three rounds, so that neither call is stuck at the end more often than the rule for single calls allows.
  const run = agentRun([...pair, ...pair, ...pair])
  expect(firstSuspect(run)).toMatchObject({ kind: 'loop' })
})

test('stays silent about polling that ended', () => {
  const run = agentRun([
    ...search('pending'),
    ...search('pending'),
    ...search('pending'),
    ...search('done'),
    says('It is done now, have a nice day.'),
  ])
  expect(diagnoseSession(run)).toEqual(nothing)
})

test('stays silent about the same tool with other arguments', () => {
  const pages = [1, 2, 3, 4].flatMap((page) => [says('', { list: { page } }), does('list', { page }, [page])])
  expect(diagnoseSession(agentRun([...pages, says('There are four pages in the list.')]))).toEqual({
    findings: [],
    suspects: [],
  })
})
