import fc from 'fast-check'
import { expect, test } from 'vitest'
import { truncateText, fitJson } from './fit-json.ts'

test('a list that fits stays unchanged', () => {
  expect(fitJson([{ role: 'user' }], 100)).toEqual({ json: '[{"role":"user"}]', isTruncated: false })
  expect(truncateText('Grüße', 7)).toEqual({ text: 'Grüße', isTruncated: false })
})

test('the longest texts are truncated to the same length, and the short ones stay', () => {
  const { json, isTruncated } = fitJson(
    [{ a: 'x'.repeat(5000), b: 'y'.repeat(3000), c: 'short', d: 'z'.repeat(200) }],
    2000,
  )
  const [value] = JSON.parse(json) as [{ a: string; b: string; c: string; d: string }]
  expect(isTruncated).toBe(true)
  expect(value.a).toMatch(/^x{600,}… \[\d+ of 5000 characters\]$/)
  expect(value.b).toMatch(/^y{600,}… \[\d+ of 3000 characters\]$/)
  expect([value.c, value.d]).toEqual(['short', 'z'.repeat(200)])
})

test('of many messages, the middle ones are left out', () => {
  const list = Array.from({ length: 500 }, (_item, index) => ({ role: 'user', index }))
  const kept = JSON.parse(fitJson(list, 1000).json) as { index?: number; content?: string }[]
  expect(kept[0]).toEqual({ role: 'user', index: 0 })
  expect(kept[1]!.content).toMatch(/^… \[\d+ more left out\]$/)
  expect(kept.at(-1)).toEqual({ role: 'user', index: 499 })
})

test('the result is always valid JSON within the limit', () => {
  fc.assert(
    fc.property(
      fc.array(fc.jsonValue({ maxDepth: 4 })),
      fc.integer({ min: 256, max: 4096 }),
      (list, maxBytes) => {
        const long = [...list, 'é'.repeat(3000), { text: '"\n'.repeat(2000) }]
        const { json } = fitJson(long, maxBytes)
        expect(Buffer.byteLength(json)).toBeLessThanOrEqual(maxBytes)
        expect(Array.isArray(JSON.parse(json))).toBe(true)
      },
    ),
  )
})

test('a surrogate pair is never split', () => {
  const { text } = truncateText('👩'.repeat(100), 101)
  expect(text).toMatch(/^(?:👩)+… \[\d+ of 200 characters\]$/u)
})
