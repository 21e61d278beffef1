import { expect, test } from 'vitest'
import { makePlan, traits } from './plan.ts'
import { rerunGenerated } from './rerun-generated.ts'

test('at least a fifth of 200 generated agents has each trait', () => {
  const plans = Array.from({ length: 200 }, (_, index) => makePlan(1, index))
  const counts = traits.map((trait) => plans.filter((plan) => plan.traits.includes(trait)).length)
  expect(Math.min(...counts)).toBeGreaterThanOrEqual(40)
})

/** `npm run rerun-generated` runs 200 of them, each in a process of its own. */
test('stored sessions of generated agents run again from their tape, or say why not', async () => {
  const verdicts = await rerunGenerated({ sessions: 24, seed: 1, place: 'process' })
  expect(verdicts.map(({ steps }) => steps > 2)).toEqual(verdicts.map(() => true))
  expect(verdicts.flatMap(({ plan, reason }) => (reason === undefined ? [] : [[plan.name, reason]]))).toEqual(
    [['case-21', 'download: its result is a Response, which can’t be recorded']],
  )
}, 60_000)
