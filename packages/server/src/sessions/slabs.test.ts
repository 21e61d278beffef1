import fc from 'fast-check'
import { expect, test } from 'vitest'
import { bytesOf, Slabs, type Piece } from './slabs.ts'

const anySizes = fc.array(fc.record({ size: fc.integer({ min: 0, max: 1_500_000 }), freed: fc.nat(20) }), {
  maxLength: 60,
})

test('a piece stays as it was stored until it is freed, whatever is freed meanwhile', () => {
  fc.assert(
    fc.property(anySizes, (steps) => {
      const slabs = new Slabs()
      const kept: { piece: Piece; fill: number; size: number }[] = []
      for (const [index, { size, freed }] of steps.entries()) {
        const fill = index % 251
        kept.push({ piece: slabs.store(Buffer.alloc(size, fill)), fill, size })
        if (freed < kept.length) slabs.free(kept.splice(freed, 1)[0]!.piece)
        for (const { piece, fill: expected, size: length } of kept) {
          const bytes = bytesOf(piece)
          expect(bytes.length).toBe(length)
          expect([bytes[0], bytes.at(-1)]).toEqual(
            length === 0 ? [undefined, undefined] : [expected, expected],
          )
        }
      }
    }),
    { numRuns: 20 },
  )
})

test('memory is used again once its pieces are freed', () => {
  const slabs = new Slabs()
  const pieces: Piece[] = []
  const seen = new Set<Buffer>()
  for (let round = 0; round < 200; round++) {
    pieces.push(slabs.store(Buffer.alloc(300_000)))
    seen.add(pieces.at(-1)!.slab.bytes)
    if (pieces.length > 12) slabs.free(pieces.shift()!)
  }
  expect(seen.size).toBeLessThan(8)
})
