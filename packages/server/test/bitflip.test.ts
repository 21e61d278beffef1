import { expect, test } from 'vitest'
import { flipBits } from './bitflip/flip-bits.ts'

/** `npm run bitflip` flips thousands. */
const flips = { log: 60, store: 8, servers: 1 }
const seed = Number(process.env.BITFLIP_SEED ?? Date.now() % 2 ** 31)

test(`after a flipped bit, every acknowledged span is returned as it was or reported (reproduce with BITFLIP_SEED=${seed})`, async () => {
  const { counts, violations } = await flipBits(flips, { seed, sessions: 8, onProgress: () => undefined })

  expect(violations).toEqual([])
  expect([...counts.values()].reduce((sum, count) => sum + count, 0)).toBe(69)
}, 180_000)
