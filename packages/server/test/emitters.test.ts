import { trimOutlines } from '@playhead/model'
import { expect, test } from 'vitest'
import { emitterRuns, factsOf, sessionsOfRun, type RunFacts } from './emitters.ts'

/**
 * What 168 runs of real Python instrumentations are shown as, compared with what the model server was asked and
 * answered. `truth.json` is the truth; `differences.json` lists what the emitter does not send, and what is shown
 * instead.
 */
const runs = emitterRuns()

test.each(runs)('$emitter $variant is shown as it was', (run) => {
  const shown = Object.fromEntries(
    Object.entries(run.differences).map(([fact, difference]) => [fact, difference.shown]),
  )

  expect(factsOf(sessionsOfRun(run))).toEqual({ ...run.truth, ...shown })
})

const differing = runs.filter(({ differences }) => Object.keys(differences).length > 0)

test.each(differing)('$emitter $variant differs from the truth as listed, with a reason', (run) => {
  for (const [fact, { shown, why }] of Object.entries(run.differences)) {
    expect(shown).not.toEqual(run.truth[fact as keyof RunFacts])
    expect(why).toMatch(/^[A-Z].*\.$/)
  }
})

test('what the outlines of recorded tools repeat is not stored, and nothing else depends on it', () => {
  let dropped = 0
  for (const run of runs) {
    const changed = sessionsOfRun(run, (outlines) => {
      const count = () => outlines.filter(({ toolRequests }) => toolRequests !== undefined).length
      const before = count()
      trimOutlines(outlines)
      dropped += before - count()
    })
    expect(changed).toEqual(sessionsOfRun(run))
  }
  expect(dropped).toBeGreaterThan(20)
})
