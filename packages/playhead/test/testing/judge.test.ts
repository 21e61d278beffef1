import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as playhead from 'playhead'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectSession, extendedMatchers } from '../../src/testing/matchers/matchers.ts'
import { fetchCustomer } from './sample-session.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'playhead-judge-'))
  playhead.init({ endpoint: false, dir: folder, silent: true, capture: false })
})
afterAll(async () => {
  await playhead.shutdown()
  await rm(folder, { recursive: true, force: true })
})

test('a judge that the user writes accepts or rejects a session, and its judgement is a score', async () => {
  const askModel = playhead.recordAction('ask_model', async (steps: number) => steps / 10)
  const judge = async ({ steps }: { steps: readonly unknown[] }) => ({
    value: await askModel(steps.length),
    comment: 'too short',
  })
  const options = { atLeast: 0.9, name: 'long' }
  const live = await playhead.withSession({ name: 'judged' }, async (session) => {
    await fetchCustomer('c_42')
    await expect(expectSession(session).toBeJudged(judge, options)).rejects.toThrow(
      /Expected the judge "long" to accept the session, but it said 0\.\d, at least 0\.9 was expected\.\n {2}too short/,
    )
    await expectSession(session).not.toBeJudged(judge, options)
    await expectSession(session).toBeJudged(() => true)
    return session
  })
  // What the judge calls is a step like any other.
  expectSession(live).toHaveCalled('ask_model', { times: 2 })
  const scores = live.toJSON().scores ?? []
  expect(scores.map(({ name, source, comment }) => [name, source, comment])).toEqual([
    ['judge', 'model', undefined],
    ['long', 'model', 'too short'],
    ['long', 'model', 'too short'],
  ])
})

test('recordings are judged too, runners get the same matcher, and a wrong judge is explained', async () => {
  const live = await playhead.withSession({ name: 'judged' }, async (session) => session)
  const recorded = live.toJSON()
  await expectSession(recorded).toBeJudged(({ session }) => session.name === 'judged')
  const { pass, message } = await extendedMatchers.toBeJudged.call({ isNot: false }, recorded, () => 0.2)
  expect([pass, message().split('\n', 1)[0]]).toEqual([
    false,
    'Expected the judge "judge" to accept the session, but it said 0.2, at least 0.5 was expected.',
  ])
  for (const wrong of [() => 'nice', () => Number.NaN, () => ({}), 'x', undefined])
    await expect(expectSession(recorded).toBeJudged(wrong as never)).rejects.toThrow(TypeError)
  await expect(expectSession(recorded).toBeJudged(() => true, { atLeast: 'x' as never })).rejects.toThrow(
    TypeError,
  )
})
