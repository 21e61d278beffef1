import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readFileSync } from 'node:fs'
import { SpawnedServer } from '../../packages/server/test/spawned-server.ts'
import { emitters, notRun } from './emitters.ts'
import { runEmitter } from './run-emitter.ts'
import type { Facts } from './weather.ts'

type Differences = Record<string, Record<string, { [Fact in keyof Facts]?: { shown: unknown; why: string } }>>

/**
 * Real instrumentations, installed from the registries, run one agent against a scripted model and a server. What is
 * shown is compared with what the model was asked and answered. `differences.json` lists what an emitter does not send.
 */
const chosen = process.env.PLAYHEAD_EMITTERS
const differences = JSON.parse(
  readFileSync(new URL('differences.json', import.meta.url), 'utf8'),
) as Differences

if (chosen === undefined)
  console.warn(
    `NOT RUN: ${emitters.length} real instrumentations. \`npm run test:emitters\` installs and runs them.`,
  )

test('every difference and every instrumentation that is not run has a reason', () => {
  const reasons = Object.values(differences).flatMap((runs) =>
    Object.values(runs).flatMap((facts) => Object.values(facts).map(({ why }) => why)),
  )
  for (const reason of [...reasons, ...Object.values(notRun)]) expect(reason).toMatch(/^[A-Za-z"].* .*\.$/)
  expect(
    Object.keys(differences).filter((name) => !emitters.some((emitter) => emitter.name === name)),
  ).toEqual([])
})

describe.skipIf(chosen === undefined)('what real instrumentations send', () => {
  let server: SpawnedServer
  beforeAll(async () => {
    server = await SpawnedServer.create()
    await server.start()
  })
  afterAll(() => server.remove())

  const wanted = emitters.filter(({ name }) => chosen === 'all' || chosen?.split(',').includes(name))
  test.each(wanted)('$name', { timeout: 1_800_000 }, async (emitter) => {
    const { runs, output } = await runEmitter(emitter, server)
    const own = differences[emitter.name] ?? {}
    const expected = runs.map(({ scenario, truth }) => ({
      scenario,
      ...truth,
      ...Object.fromEntries(Object.entries(own[scenario] ?? {}).map(([fact, { shown }]) => [fact, shown])),
    }))
    const shown = runs.map(({ scenario, shown: facts }) => ({ scenario, ...facts }))
    try {
      expect(shown).toEqual(expected)
    } catch (error) {
      console.warn(output)
      throw error
    }
  })
})
