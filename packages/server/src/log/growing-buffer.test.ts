import { expect, test } from 'vitest'
import { GrowingBuffer } from './growing-buffer.ts'

/** ClickHouse's String, written in the plainest way. */
function expected(text: string): Buffer {
  const bytes = Buffer.from(text, 'utf8')
  const length: number[] = []
  let rest = bytes.length
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) length.push((rest % 0x80) | 0x80)
  return Buffer.concat([Buffer.from([...length, rest]), bytes])
}

test.each([
  ['', 1],
  ['a', 39],
  ['a', 127],
  ['é', 39],
  ['é', 64],
  ['é', 127],
  ['…', 100],
  ['😀', 5_000],
  ['é', 8_192],
  ['a', 16_384],
  ['é', 40_000],
  ['…', 30_000],
  ['a', 100_000],
  ['\ud800', 50],
])('a text of "%s" × %d is written after its length in bytes', (part, count) => {
  const text = part.repeat(count)
  const buffer = new GrowingBuffer(8)
  buffer.writeString('before')
  buffer.writeString(text)
  buffer.writeString('after')
  expect(
    buffer.contents().equals(Buffer.concat([expected('before'), expected(text), expected('after')])),
  ).toBe(true)
})
