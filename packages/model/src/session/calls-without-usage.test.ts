import { expect, test } from 'vitest'
import { failed, outline } from '../../test/outline.ts'
import { sessionOf } from '../../test/session-of.ts'
import { describeMissingCost, findCallsWithoutUsage, findMissingCosts } from './calls-without-usage.ts'

const call = { kind: 'llm', model: 'gpt-4o' } as const
const idsOf = (...outlines: Parameters<typeof sessionOf>[0]) =>
  findCallsWithoutUsage(sessionOf(outlines).steps).map(({ id }) => id)

test('a call that ended without tokens or cost reported no usage', () => {
  expect(
    idsOf(
      outline({ id: 'silent', ...call }),
      outline({ id: 'told', ...call, usage: { input: 3 } }),
      outline({ id: 'priced', ...call, cost: 0.1, costSource: 'reported' }),
      outline({ id: 'running', ...call, to: null }),
      failed({ id: 'failed', ...call }),
      outline({ id: 'tool', kind: 'action' }),
    ),
  ).toEqual(['silent'])
})

test('a call that several steps report has reported its usage if one of them did', () => {
  expect(
    idsOf(
      outline({ id: 'outer', ...call, to: 90 }),
      outline({ id: 'inner', ...call, parentId: 'outer', from: 5, usage: { input: 3, output: 1 } }),
    ),
  ).toEqual([])
  expect(
    idsOf(
      outline({ id: 'outer', ...call, to: 90, usage: { input: 3, output: 1 } }),
      outline({ id: 'http', kind: 'other', parentId: 'outer', from: 5, to: 80 }),
      outline({ id: 'inner', ...call, parentId: 'http', from: 5 }),
    ),
  ).toEqual([])
})

test('what a cost lacks is named: a price, the usage, or only the output', () => {
  const session = sessionOf([
    outline({ id: 'partial', ...call, usage: { input: 3 }, cost: 0.1, costSource: 'computed' }),
    outline({ id: 'both', kind: 'llm', model: 'mine', costSource: 'no-price' }),
  ])
  const { unpricedModels, callsWithoutUsage, callsWithoutOutput } = findMissingCosts(session)
  expect([
    unpricedModels,
    callsWithoutUsage.map(({ id }) => id),
    callsWithoutOutput.map(({ id }) => id),
  ]).toEqual([['mine'], ['both'], ['partial']])
  expect(describeMissingCost(session.session)).toBe(
    'no price for mine; mine: no usage reported (OpenAI: stream_options.include_usage); gpt-4o: no output tokens reported',
  )
})
