import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { JsonWriter } from './json-writer.ts'

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 120 }),
  fc.string({ unit: 'grapheme', maxLength: 120 }),
  fc.string({
    unit: fc.constantFrom('"', '\\', '\n', '\u0001', 'a', 'é', '…', '\ud800', '😀'),
    maxLength: 90,
  }),
)
const key = text.map((any) => any.toWellFormed())
const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { maxDepth: 4 },
    text,
    fc.double(),
    fc.integer(),
    fc.boolean(),
    fc.constantFrom(null, undefined),
    fc.array(tie('any'), { maxLength: 4 }),
    fc.dictionary(key, tie('any'), { maxKeys: 6 }),
  ),
})).any

test('an object is written as JSON.stringify would, with texts that are well formed', () => {
  const writer = new JsonWriter()
  const wellFormed = (_: string, part: unknown) => (typeof part === 'string' ? part.toWellFormed() : part)

  fc.assert(
    fc.property(fc.dictionary(key, value), (fields) => {
      writer.clear()
      const before = writer.writeObject({ before: 1 })
      const json = writer.writeObject(fields)
      expect(json.toString()).toBe(JSON.stringify(fields, wellFormed))
      expect(json.length).toBe(json.toString().length)
      expect(before.toString()).toBe('{"before":1}')
    }),
    { numRuns: 1_000 },
  )
})

test('long texts make the memory grow', () => {
  const writer = new JsonWriter()
  const long = '{"a":"…"}\n'.repeat(200_000)

  expect(writer.writeObject({ long, short: 'x' }).toString()).toBe(JSON.stringify({ long, short: 'x' }))
})

test('a text can not be read once its memory was cleared', () => {
  const writer = new JsonWriter()
  const json = writer.writeObject({ id: 1 })
  writer.clear()

  expect(json.isGone).toBe(true)
  expect(() => json.toString()).toThrow('used again')
})
