import { Readable } from 'node:stream'
import { createRedactor } from '@playhead/model'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { serializeTyped, serializeValue } from './serialize-value.ts'

const options = { maxLength: 100_000, isContentKept: true, isSecretKey: createRedactor().isSecretKey }

const read = (value: unknown, changes: Partial<typeof options> = {}): unknown =>
  JSON.parse(serializeValue(value, { ...options, ...changes }).text)

describe('plain data is written like JSON.stringify does', () => {
  test.each<[string, unknown]>([
    ['an object', { id: 'c_42', plan: { seats: 3, isPaid: true, note: null }, list: [1, 'two', [3]] }],
    ['a text', 'with "quotes" and\nlines and 🎬'],
    ['a list', []],
    ['an object without a prototype', Object.assign(Object.create(null), { a: 1 })],
  ])('%s', (_, value) => {
    expect(serializeValue(value, options)).toEqual({ text: JSON.stringify(value), isTruncated: false })
  })
})

describe("values that JSON can't represent", () => {
  class Customer {
    id = 'c_1'
    get name(): string {
      throw new Error('lazy')
    }
  }
  class Money {
    amount = 5
    toJSON() {
      return { euros: this.amount }
    }
  }
  test.each<[string, unknown, unknown]>([
    ['a big number', 12_345_678_901_234_567_890n, '12345678901234567890'],
    ['not a number', { value: Number.NaN }, { value: 'NaN' }],
    ['nothing', [undefined], [null]],
    ['a symbol', Symbol('mark'), 'Symbol(mark)'],
    ['a function', function lookUp() {}, '[function lookUp]'],
    ['a date', new Date(0), '1970-01-01T00:00:00.000Z'],
    ['a date that is none', new Date(Number.NaN), null],
    ['a map', new Map([['plan', 'pro']]), { plan: 'pro' }],
    ['a map with other keys', new Map([[1, { a: 1 }]]), [[1, { a: 1 }]]],
    ['a set', new Set(['a', 'b']), ['a', 'b']],
    ['bytes', Buffer.from('abc'), '[3 bytes]'],
    ['a stream', Readable.from(['a']), '[Readable]'],
    ['a web stream', new ReadableStream(), '[ReadableStream]'],
    ['a response', new Response('secret body'), '[Response]'],
    ['a promise', Promise.resolve(1), '[Promise]'],
    ['an address', new URL('https://x.test/a?b=1'), 'https://x.test/a?b=1'],
    [
      'an error',
      new TypeError('wrong', { cause: 'why' }),
      { name: 'TypeError', message: 'wrong', cause: 'why' },
    ],
    ['an instance, without its getters', new Customer(), { id: 'c_1' }],
    ['an instance that knows how', { price: new Money() }, { price: { euros: 5 } }],
  ])('%s', (_, value, expected) => {
    expect(read(value)).toEqual(expected)
  })
})

describe('values that run code or refer to themselves', () => {
  test('a circular reference is marked', () => {
    const parent: { name: string; self?: unknown } = { name: 'a' }
    parent.self = parent
    expect(read(parent)).toEqual({ name: 'a', self: '[circular]' })
  })

  test('getters are not called', () => {
    let calls = 0
    const value = {
      plain: 1,
      get lazy() {
        calls += 1
        throw new Error('never')
      },
    }
    expect([read(value), calls]).toEqual([{ plain: 1, lazy: '[getter]' }, 0])
  })

  test('proxy traps are not run', () => {
    const traps: string[] = []
    const handler: ProxyHandler<object> = new Proxy(
      {},
      {
        get: (_, trap) => {
          traps.push(String(trap))
          throw new Error('never')
        },
      },
    )
    expect([read({ inside: new Proxy({ secretly: 1 }, handler) }), traps]).toEqual([
      { inside: '{ secretly: 1 }' },
      [],
    ])
  })

  test('a revoked proxy, a throwing toJSON and a collection with a false size', () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    class Lying extends Map<string, number> {
      override get size(): number {
        throw new Error('never')
      }
    }
    const broken = {
      toJSON() {
        throw new Error('no')
      },
    }
    expect(read([broken, new Lying([['a', 1]])])).toEqual(['[Object]', { a: 1 }])
    expect(read(proxy)).toEqual(expect.any(String))
  })
})

describe('limits', () => {
  test('a long text is truncated, and its length is noted', () => {
    const { text, isTruncated } = serializeValue({ text: 'x'.repeat(5000) }, { ...options, maxLength: 1000 })
    expect({ isTruncated, value: JSON.parse(text) as unknown }).toEqual({
      isTruncated: true,
      value: { text: expect.stringMatching(/^x{736}… \[736 of 5000 characters\]$/) as string },
    })
  })

  test('truncation never splits a secret, because redaction would miss the rest', () => {
    const written = (text: string) => serializeValue(text, { ...options, maxLength: 60 }).text
    const [words, key] = ['a few words before it, ', 'sk-proj-Ab12Cd34Ef56Gh78Ij90Kl12Mn34Op56']
    expect(written(`${words}and ${key} and after`)).toMatch(/^"a few words before it, and…/)
    expect(written(`${words.repeat(2)}4111 1111 1111 1111 and`)).toMatch(/^"(a few words before it,\s?){2}…/)
  })

  test('a list and an object are truncated and marked', () => {
    const long = { ...options, maxLength: 10_000 }
    const list = serializeValue(
      Array.from({ length: 30_000 }, () => 1),
      long,
    )
    expect([list.isTruncated, (JSON.parse(list.text) as unknown[]).at(-1)]).toEqual([true, '… 25000 more'])
    const entries = Array.from({ length: 3000 }, (_, index) => [`k${index}`, index] as const)
    const record = serializeValue(Object.fromEntries(entries), long)
    expect([record.isTruncated, JSON.parse(record.text)]).toEqual([
      true,
      expect.objectContaining({ '…': 'more keys were left out' }),
    ])
  })

  test.each<[string, unknown]>([
    ['list', Array.from({ length: 50_000 }, (_, index) => index)],
    ['object', Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`k${index}`, index]))],
    ['list of objects', Array.from({ length: 5000 }, (_, index) => ({ id: index, name: `n${index}` }))],
  ])('a %s within the size limit is kept whole', (_, value) => {
    expect(serializeValue(value, { ...options, maxLength: 1_048_576 })).toEqual({
      text: JSON.stringify(value),
      isTruncated: false,
    })
  })

  test('a set and a map within the size limit are kept whole', () => {
    const numbers = Array.from({ length: 5000 }, (_, index) => index)
    const map = new Map(numbers.map((number) => [`k${number}`, number]))
    expect([read(new Set(numbers)), read(map)]).toEqual([numbers, Object.fromEntries(map)])
  })

  test('a list of endless length is bounded in time', () => {
    const { text, isTruncated } = serializeValue(Array.from({ length: 200_000 }), {
      ...options,
      maxLength: 1e9,
    })
    expect([isTruncated, (JSON.parse(text) as unknown[]).length]).toEqual([true, 99_998])
  })

  test('an object with a million keys is listed once; its first keys are kept', () => {
    const wide: Record<string, number> = {}
    for (let index = 0; index < 1_000_000; index += 1) wide[`key ${index}`] = index
    const listings = vi.spyOn(Object, 'keys')
    onTestFinished(() => listings.mockRestore())
    const values = [wide, wide].map((value) => JSON.parse(serializeValue({ value }, options).text) as unknown)
    expect(listings.mock.calls.filter(([listed]) => listed === wide)).toHaveLength(1)
    const kept = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`key ${index}`, index]))
    const expected = { value: { ...kept, '…': 'more keys were left out' } }
    expect(values).toEqual([expected, expected])
  })

  test.each<[string, unknown]>([
    ['a map', new Map(Array.from({ length: 200_000 }, (_, index) => [`k${index}`, index]))],
    ['a map with other keys', new Map(Array.from({ length: 200_000 }, (_, index) => [index, index]))],
    ['a set', new Set(Array.from({ length: 200_000 }, (_, index) => index))],
    ['instances', Array.from({ length: 200_000 }, () => new URL('http://a.example'))],
    ['proxies', Array.from({ length: 200_000 }, () => new Proxy({ a: 1 }, {}))],
    [
      'keys without a value',
      Object.fromEntries(Array.from({ length: 19_000 }, (_, index) => [index, [undefined]])),
    ],
    ['a large bigint', 10n ** 100_000n],
    [
      'a proxy of many keys',
      new Proxy(Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`k${index}`, index])), {}),
    ],
  ])('%s is cut off after a bounded amount of work', (_, value) => {
    const { text } = serializeValue(value, { ...options, maxLength: 1e9 })
    expect(() => JSON.parse(text) as unknown).not.toThrow()
    expect(text.length).toBeLessThan(1_500_000)
  })

  test('one bad value inside a value costs only itself', () => {
    const badPrototype = Object.create(
      new Proxy(
        {},
        {
          getPrototypeOf: () => {
            throw new Error('no')
          },
        },
      ),
    ) as object
    const badElement = Object.defineProperty(['a', 'b', 'c'], 1, {
      get() {
        throw new Error('no')
      },
    })
    expect(read({ kept: 1, badPrototype, badElement })).toEqual({
      kept: 1,
      badPrototype: '[not readable]',
      badElement: ['a', '[not readable]', 'c'],
    })
  })

  test('deep values are truncated', () => {
    let value: unknown = 'deep'
    for (let depth = 0; depth < 100; depth += 1) value = { value }
    const { text, isTruncated } = serializeValue(value, options)
    expect({ isTruncated, isMarked: text.includes('[deeper]') }).toEqual({
      isTruncated: true,
      isMarked: true,
    })
  })

  test('a value that grows forever is cut off', () => {
    const wide = (depth: number): unknown =>
      depth === 0 ? 'x' : Array.from({ length: 20 }, () => wide(depth - 1))
    const shared = wide(2)
    const value = Array.from({ length: 900 }, () => shared)
    const { text, isTruncated } = serializeValue([value, value, value], { ...options, maxLength: 10_000_000 })
    expect({ isTruncated, isBounded: text.length < 1_000_000 }).toEqual({
      isTruncated: true,
      isBounded: true,
    })
    expect(() => JSON.parse(text) as unknown).not.toThrow()
  })
})

test('values of secret keys are masked, unless they are empty', () => {
  expect(read({ apiKey: 'abc', password: { old: 1 }, token: null, secret: '', name: 'Ada' })).toEqual({
    apiKey: '[redacted]',
    password: '[redacted]',
    token: null,
    secret: '',
    name: 'Ada',
  })
})

test('without content, the structure is kept', () => {
  expect(read({ text: 'hello', count: 3, isError: true, nothing: null }, { isContentKept: false })).toEqual({
    text: '[5 characters]',
    count: 3,
    isError: true,
    nothing: null,
  })
})

describe('what JSON loses is noted by its place', () => {
  const typesOf = (value: unknown, changes: Partial<typeof options> = {}): unknown => {
    const { types } = serializeTyped(value, { ...options, ...changes }, (text) => text.includes('secret'))
    return types === undefined ? undefined : JSON.parse(types)
  }

  test('plain data has nothing to note', () => {
    expect(typesOf({ id: 'c_42', list: [1, null, { a: 'b' }], isPaid: true })).toBeUndefined()
  })

  test('without content nothing is noted', () => {
    expect(typesOf({ at: new Date(0), bytes: Buffer.from('abc') }, { isContentKept: false })).toBeUndefined()
  })

  test('everything else is', () => {
    class Invoice {
      at = new Date(0)
    }
    const value = {
      list: [new Date(0), 5n, Number.NaN, -0, undefined],
      'a/b~c': new Map([['10', new Set()]]),
      bytes: Buffer.from('abc'),
      hidden: Buffer.from('secret'),
      invoice: new Invoice(),
      nothing: undefined,
      run: () => 1,
    }
    expect(typesOf(value)).toEqual({
      '/list/0': 'date',
      '/list/1': 'bigint',
      '/list/2': 'number',
      '/list/3': '-0',
      '/list/4': 'undefined',
      '/a~1b~0c': { type: 'map', keys: ['10'] },
      '/a~1b~0c/10': 'set',
      '/bytes': { type: 'bytes', class: 'Buffer', base64: 'YWJj' },
      '/hidden': { type: 'not-data', name: 'a Buffer of 6 bytes' },
      '/invoice': { type: 'class', name: 'Invoice' },
      '/invoice/at': 'date',
      '/nothing': 'undefined',
      '/run': { type: 'not-data', name: 'a function' },
    })
  })

  test('values without end are bounded, and count as truncated', () => {
    const dates = Array.from({ length: 20_000 }, () => new Date(0))
    const { types, isTruncated } = serializeTyped(dates, options, () => false)
    expect([isTruncated, Object.keys(JSON.parse(types!) as object).length]).toEqual([true, 3704])
  })
})
