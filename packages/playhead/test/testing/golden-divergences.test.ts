import { readFileSync, writeFileSync } from 'node:fs'
import type { Session, Step } from '@playhead/model'
import { afterAll, expect, test } from 'vitest'
import { describeDivergence } from '../../src/testing/runs/divergence.ts'

// Python's kit runs the same file (clients/python/tests/test_golden_cases.py), so the two can't drift apart.
type Divergence = {
  name: string
  /** Fields of steps that differ from the session; null if it lacks the step. */
  steps?: Record<string, Partial<Step> | null>
  /** Steps that follow a step. */
  after?: Record<string, Step[]>
  /** The ids of the steps in another order. */
  order?: string[]
  result: string | null
}

const file = new URL('golden-divergences.json', import.meta.url)
const { session, cases } = JSON.parse(readFileSync(file, 'utf8')) as { session: Session; cases: Divergence[] }
const isWriting = process.env.PLAYHEAD_WRITE_GOLDEN !== undefined

afterAll(() => {
  if (isWriting) writeFileSync(file, `${JSON.stringify({ session, cases }, null, 2)}\n`)
})

test.each(cases.map((one) => [one.name, one] as const))('%s', (_name, one) => {
  const result = describeDivergence(session, change(one)) ?? null
  if (isWriting) one.result = result
  expect(result).toBe(one.result)
})

function change({ steps = {}, after = {}, order }: Divergence): Session {
  const changed = session.steps.flatMap((step) => {
    const own = steps[step.id]
    return [...(own === null ? [] : [{ ...step, ...own }]), ...(after[step.id] ?? [])]
  })
  const ordered = order?.map((id) => changed.find((step) => step.id === id)!) ?? changed
  return { session: { ...session.session, id: 'f'.repeat(32) }, steps: ordered }
}
