import * as fc from 'fast-check'

/** One change to some bytes; `at` and `span` are fractions of the whole length. */
export type Damage = {
  how: 'flip' | 'set' | 'cut' | 'remove' | 'repeat' | 'insert' | 'swap'
  at: number
  span: number
  byte: number
}

/** Bytes with a meaning in protobuf, JSON or UTF-8. */
const meaningfulBytes = [
  0x00, 0x01, 0x0a, 0x12, 0x1a, 0x22, 0x2c, 0x4a, 0x5b, 0x5c, 0x7b, 0x7d, 0x7f, 0x80, 0xc3, 0xed, 0xff,
]

const share = fc.double({ min: 0, max: 1, noNaN: true })

export const anyDamage: fc.Arbitrary<Damage> = fc.record({
  how: fc.constantFrom('flip', 'set', 'cut', 'remove', 'repeat', 'insert', 'swap'),
  at: share,
  span: share.map((value) => value ** 4),
  byte: fc.oneof(fc.constantFrom(...meaningfulBytes), fc.nat({ max: 255 })),
})

export function damageBytes(whole: Buffer, list: readonly Damage[]): Buffer {
  return list.reduce(damageOnce, whole)
}

function damageOnce(whole: Buffer, { how, at, span, byte }: Damage): Buffer {
  const from = Math.min(whole.length, Math.floor(at * whole.length))
  const to = Math.min(whole.length, from + 1 + Math.floor(span * whole.length))
  const [before, piece, after] = [whole.subarray(0, from), whole.subarray(from, to), whole.subarray(to)]
  switch (how) {
    case 'flip':
      return Buffer.concat([before, piece.map((value, index) => (index === 0 ? value ^ byte : value)), after])
    case 'set':
      return Buffer.concat([before, Buffer.alloc(piece.length, byte), after])
    case 'cut':
      return Buffer.from(before)
    case 'remove':
      return Buffer.concat([before, after])
    case 'repeat':
      return Buffer.concat([before, piece, piece, after])
    case 'insert':
      return Buffer.concat([before, Buffer.alloc(1 + (byte % 9), byte), piece, after])
    case 'swap':
      return Buffer.concat([after, piece, before])
  }
}

/** Values that buggy senders put in the wrong place. */
const strangeValues: readonly unknown[] = [
  null,
  true,
  '',
  0,
  -1,
  1e308,
  2 ** 53,
  '18446744073709551616',
  [],
  {},
  [[]],
  'NaN',
  '\u0000',
  '\ud800',
  { stringValue: 1 },
  { arrayValue: { values: [{ kvlistValue: {} }] } },
  { __proto__: null, constructor: { prototype: 1 } },
]

/** Replaces a value anywhere in a JSON text with another. */
export const anyReplacement = fc.record({
  at: share,
  value: fc.oneof(fc.constantFrom(...strangeValues), fc.jsonValue({ maxDepth: 3 })),
})

export function replaceInJson(json: string, list: readonly { at: number; value: unknown }[]): string {
  const root: unknown[] = [JSON.parse(json) as unknown]
  for (const { at, value } of list) {
    const places = findPlaces(root)
    const place = places[Math.min(places.length - 1, Math.floor(at * places.length))]!
    place.holder[place.key] = structuredClone(value)
  }
  return JSON.stringify(root[0])
}

type Holder = Record<PropertyKey, unknown>

function findPlaces(value: unknown): { holder: Holder; key: PropertyKey }[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.keys(value).flatMap((key) => [
    { holder: value as Holder, key },
    ...findPlaces((value as Holder)[key]),
  ])
}
