import { beforeAll, describe, expect, test } from 'vitest'
import { plantForRules, plantInnocents, plantSecrets, userRules, type Planted } from './corpus.ts'
import { findLeaks } from './find-leaks.ts'
import { CALLERS_KEY, sendPlanted, type Outlet } from './send-planted.ts'

// The days since 1970: other secrets every day, the same for everybody on it.
const seed = Math.floor(Date.now() / 86_400_000)

function leaksOf(planted: readonly Planted[], texts: readonly string[]): string[] {
  expect(texts.length).toBeGreaterThan(0)
  return [...findLeaks(planted, texts)].map(
    ({ family, carrier, door, hidden }) => `${family} in ${carrier} through ${door}: ${hidden}`,
  )
}

describe('secrets of every family, in every carrier, stay in the process', () => {
  const planted = plantSecrets(seed, 1)
  let outlet: Outlet

  beforeAll(async () => {
    outlet = await sendPlanted(planted, { isRefused: false })
  }, 60_000)

  test('nothing of them is sent', () => {
    expect(leaksOf(planted, outlet.wire)).toEqual([])
  })

  test('nothing of them is in the files of sessions', () => {
    expect(leaksOf(planted, outlet.recordings)).toEqual([])
  })

  test('the key with which the model was asked is nowhere', () => {
    expect([...outlet.wire, ...outlet.recordings].filter((text) => text.includes(CALLERS_KEY))).toEqual([])
  })
})

test('what waits on disk for the server holds none, nor what the rules of the user hide', async () => {
  const planted = [...plantSecrets(seed + 1, 1), ...plantForRules(seed, 2)]
  const { spool } = await sendPlanted(planted, { isRefused: true, redact: userRules })
  expect(leaksOf(planted, spool)).toEqual([])
}, 60_000)

test('a secret that nothing masks is found, so that the tests above can fail', async () => {
  const value = 'This one looks like nothing: Qm9yZWQ4Tm93Qm9yZWQ4'
  const planted = {
    family: 'none',
    carrier: 'a text',
    door: 'a streamed answer',
    value,
    hidden: 'Qm9yZWQ4Tm93Qm9yZWQ4',
  }
  const { wire } = await sendPlanted([planted], { isRefused: false })
  expect([...findLeaks([planted], wire)]).toEqual([planted])
})

test('what only looks like a secret is sent as it is', async () => {
  const innocents = plantInnocents(seed, 6)
  const { wire } = await sendPlanted(innocents, { isRefused: false })
  const sent = wire.join('\n')
  expect(innocents.filter(({ text }) => !sent.includes(text)).map(({ kind, text }) => [kind, text])).toEqual(
    [],
  )
})
