import fc from 'fast-check'
import { expect, test } from 'vitest'
import { countRows, newMarker, readFrames, toFrame } from './frames.ts'
import { NativeBlock, type Columns } from './native-block.ts'

const columns: Columns<{ text: string }> = { text: { type: 'String', value: ({ text }) => text } }

function encode(marker: string, texts: readonly string[]): Buffer {
  const block = new NativeBlock(columns)
  for (const text of texts) block.append({ text })
  return Buffer.concat(toFrame(marker, block.withConstant('segment', 7n)))
}

const anyBlocks = fc.array(fc.array(fc.string({ maxLength: 200 }), { minLength: 1, maxLength: 300 }), {
  minLength: 1,
  maxLength: 5,
})
const anyShare = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })

type Damage = (bytes: Buffer, at: number) => Buffer
const damages: Record<string, Damage> = {
  'a flipped bit': (bytes, at) => {
    bytes[at]! ^= 1 << (at % 8)
    return bytes
  },
  'a lost end': (bytes, at) => bytes.subarray(0, at),
  'a hole of zeros': (bytes, at) => bytes.fill(0, at, Math.min(at + 100, bytes.length)),
  'missing bytes': (bytes, at) => Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 9)]),
  'foreign bytes': (bytes, at) =>
    Buffer.concat([bytes.subarray(0, at), Buffer.alloc(40, 'x'), bytes.subarray(at)]),
}

test.each(Object.entries(damages))(
  'after %s, every block is either returned as it was or reported',
  async (_, damage) => {
    await fc.assert(
      fc.asyncProperty(anyBlocks, anyShare, async (batches, share) => {
        const marker = newMarker()
        const frames = batches.map((batch) => encode(marker, batch))
        const intact = Buffer.concat(frames)
        const damaged = damage(Buffer.from(intact), Math.floor(share * intact.length))

        const contents = readFrames(damaged, marker)

        const readable = contents.readable.map(({ start, end }) => damaged.subarray(start, end))
        const unread = frames.filter((frame) => !readable.some((bytes) => bytes.equals(frame)))
        expect(readable.every((bytes) => frames.some((frame) => frame.equals(bytes)))).toBe(true)
        // A file that ends exactly after a block looks complete.
        const isReported = contents.damaged.length > 0
        const isWhole = damaged.length === readable.reduce((sum, bytes) => sum + bytes.length, 0)
        expect(isReported).toBe(!isWhole)
        if (!intact.subarray(0, damaged.length).equals(damaged)) expect(unread.length).toBeLessThanOrEqual(2)
        expect(await countRows(inChunks(damaged), marker)).toBe(isReported ? undefined : contents.rows)
      }),
    )
  },
)

test('an undamaged segment is read whole, in chunks of any size', async () => {
  const marker = newMarker()
  const bytes = Buffer.concat([encode(marker, ['a', 'b']), encode(marker, Array(500).fill('c'))])

  for (const size of [1, 57, 1000, bytes.length])
    expect(await countRows(inChunks(bytes, size), marker)).toBe(502)
  expect(readFrames(bytes, marker)).toMatchObject({ rows: 502, blocks: 2, damaged: [] })
})

test('a damaged block with a readable header says how many rows are lost; the blocks around it are found', () => {
  const marker = newMarker()
  const [first, second, third] = [['a'], ['b', 'c'], ['d']].map((batch) => encode(marker, batch))
  const bytes = Buffer.concat([first!, second!, third!])
  bytes[first!.length + second!.length - 1]! ^= 1

  expect(readFrames(bytes, marker)).toMatchObject({
    rows: 2,
    readable: [{ start: 0 }, { end: bytes.length }],
    damaged: [{ start: first!.length, end: first!.length + second!.length, rows: 2, isUnfinished: false }],
  })
})

test('a frame that somebody sent as text is not mistaken for one', () => {
  const marker = newMarker()
  const forged = encode(newMarker(), ['forged']).toString('latin1')
  const bytes = encode(marker, [forged, 'x'])
  bytes[bytes.length - 1]! ^= 1

  expect(readFrames(bytes, marker)).toMatchObject({ rows: 0, readable: [], damaged: [{ rows: 2 }] })
})

async function* inChunks(bytes: Buffer, size = 4096): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}
