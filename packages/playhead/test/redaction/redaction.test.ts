import { beforeAll, describe, expect, test } from 'vitest'
import { plantForRules, plantInnocents, plantSecrets, userRules, type Planted } from './corpus.ts'
import { findLeaks } from './find-leaks.ts'
import { CALLERS_KEY, sendPlanted, type Outlet } from './send-planted.ts'

// Days since 1970: new secrets every day, the same for everybody on that day.
const seed = Math.floor(Date.now() / 86_400_000)

function leaksOf(planted: readonly Planted[], texts: readonly string[]): string[] {
  expect(texts.length).toBeGreaterThan(0)
  return [...findLeaks(planted, texts)].map(
    ({ family, carrier, door, hidden }) => `${family} in ${carrier} through ${door}: ${hidden}`,
  )
}

describe('secrets of every family, in every carrier, never leave the process', () => {
  const planted = plantSecrets(seed, 1)
  let outlet: Outlet

  beforeAll(async () => {
    outlet = await sendPlanted(planted, { isRefused: false })
  })

  test('none of them is sent', () => {
    expect(leaksOf(planted, outlet.wire)).toEqual([])
  })

  test('none of them is in the recording files', () => {
    expect(leaksOf(planted, outlet.recordings)).toEqual([])
  })

  test('the API key of the model call appears nowhere', () => {
    expect([...outlet.wire, ...outlet.recordings].filter((text) => text.includes(CALLERS_KEY))).toEqual([])
  })
})

test('spooled steps contain no secrets, and nothing that custom rules hide', async () => {
  const planted = [...plantSecrets(seed + 1, 1), ...plantForRules(seed, 2)]
  const { spool } = await sendPlanted(planted, { isRefused: true, redact: userRules })
  expect(leaksOf(planted, spool)).toEqual([])
})

test('an unmasked secret is found, so the tests above can fail', async () => {
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

test('a text that only resembles a secret is sent unchanged', async () => {
  const innocents = plantInnocents(seed, 6)
  const { wire } = await sendPlanted(innocents, { isRefused: false })
  const sent = wire.join('\n')
  expect(innocents.filter(({ text }) => !sent.includes(text)).map(({ kind, text }) => [kind, text])).toEqual(
    [],
  )
})
