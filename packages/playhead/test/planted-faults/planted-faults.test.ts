import { diagnoseSession } from '@playhead/model'
import { expect, test } from 'vitest'
import { faultNames, plantFaults, recordHealthy } from './campaign.ts'

// `npm run planted-faults` plants twenty of each.
test('the step with the fault is named first, whatever the fault and the agent', async () => {
  const verdicts = await plantFaults({ runs: 1, seed: 7 })
  expect(verdicts).toHaveLength(2 * faultNames.length)
  expect(verdicts.filter(({ isNamed }) => !isNamed)).toEqual([])
})

test('sessions with retries, empty results and polling show no suspect', async () => {
  const sessions = await recordHealthy({ count: 30, seed: 7 })
  expect(sessions.flatMap((session) => diagnoseSession(session).suspects)).toEqual([])
})
