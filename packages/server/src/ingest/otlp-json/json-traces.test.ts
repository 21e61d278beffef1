import { emptyAttributes, spansToOtlpJson, type AttributeValue, type Span } from '@playhead/model'
import { describe, expect, test } from 'vitest'
import { decodeJson, requestOf } from '../test/decode-json.ts'
import { attributesOf, spanWith, wireSpan } from '../test/sample-span.ts'

describe('the forms of OTLP JSON', () => {
  const values: [string, unknown, AttributeValue | undefined][] = [
    ['an integer as a number', { intValue: 120 }, 120],
    ['an integer as a string', { intValue: '120' }, 120],
    ['an integer in halves', { intValue: { low: -2, high: -1 } }, -2],
    [
      'a large integer in halves',
      { intValue: { low: -1, high: 0x7fff_ffff, unsigned: false } },
      '9223372036854775807',
    ],
    ['an integer beyond the range of numbers', { intValue: '-9223372036854775808' }, '-9223372036854775808'],
    ['the last safe integer', { intValue: '9007199254740991' }, 9007199254740991],
    ['the first unsafe integer', { intValue: '9007199254740992' }, '9007199254740992'],
    ['a fraction sent as an integer', { intValue: 1.5 }, 1.5],
    ['a double', { doubleValue: 0.7 }, 0.7],
    ['a double as a string', { doubleValue: '0.7' }, 0.7],
    ['a double that is null', { doubleValue: null }, undefined],
    ['a double that is NaN', { doubleValue: 'NaN' }, undefined],
    ['a double that is infinite', { doubleValue: '-Infinity' }, undefined],
    ['a double too large for a number', { doubleValue: 1e308 * 10 }, undefined],
    ['minus zero', { doubleValue: -0 }, 0],
    ['a boolean', { boolValue: false }, false],
    ['a boolean as a string', { boolValue: 'true' }, true],
    ['an empty string', { stringValue: '' }, ''],
    ['a string with NUL', { stringValue: 'a\0b' }, 'a\0b'],
    ['a lone surrogate', { stringValue: 'a\ud800b' }, 'a\ufffdb'],
    ['bytes in base64', { bytesValue: 'AQID/w==' }, 'AQID/w=='],
    ['bytes in base64url', { bytesValue: 'AQID_w' }, 'AQID/w=='],
    ['bytes as a list', { bytesValue: [1, 2, 3, 255] }, 'AQID/w=='],
    ['bytes as a Buffer', { bytesValue: { type: 'Buffer', data: [1, 2, 3, 255] } }, 'AQID/w=='],
    ['no value', {}, null],
    ['a value that is null', null, null],
    ['an unknown kind of value', { futureValue: 1 }, null],
    ['an empty list', { arrayValue: {} }, []],
    [
      'a list',
      { arrayValue: { values: [{ stringValue: 'a' }, { doubleValue: null }, {}] } },
      ['a', null, null],
    ],
    ['an empty map', { kvlistValue: { values: null } }, {}],
    [
      'a map',
      {
        kvlistValue: {
          values: [
            { key: 'a', value: { intValue: 1 } },
            { key: 'b', value: { doubleValue: 'NaN' } },
          ],
        },
      },
      { a: 1 },
    ],
    ['a snake_case string', { string_value: 'a' }, 'a'],
    ['a snake_case integer', { int_value: 1 }, 1],
    ['a snake_case double', { double_value: 0.5 }, 0.5],
    ['a snake_case double that is null', { double_value: null }, undefined],
    ['a snake_case boolean', { bool_value: true }, true],
    ['a snake_case list', { array_value: { values: [{ int_value: '1' }] } }, [1]],
    [
      'a snake_case map',
      { kvlist_value: { values: [{ key: 'a', value: { bytes_value: 'AQ==' } }] } },
      { a: 'AQ==' },
    ],
  ]

  test.each(values)('reads %s', (_, value, expected) => {
    const { items: spans, rejected } = decodeJson(
      requestOf(wireSpan({ attributes: [{ key: 'value', value }] })),
    )
    expect(rejected).toEqual([])
    expect(spans).toEqual([
      spanWith({ attributes: attributesOf(expected === undefined ? {} : { value: expected }) }),
    ])
  })

  const fields: [string, Record<string, unknown>, Partial<Span>][] = [
    ['ids in upper case', { traceId: '0AF7651916CD43DD8448EB211C80319C', spanId: 'B7AD6B7169203331' }, {}],
    ['ids in base64', { traceId: 'CvdlGRbNQ92ESOshHIAxnA==', spanId: 't61rcWkgMzE=' }, {}],
    ['ids in base64 without padding', { traceId: 'CvdlGRbNQ92ESOshHIAxnA', spanId: 't61rcWkgMzE' }, {}],
    ['ids as lists of bytes', { spanId: [0xb7, 0xad, 0x6b, 0x71, 0x69, 0x20, 0x33, 0x31] }, {}],
    ['ids as typed arrays', { spanId: new Uint8Array([0xb7, 0xad, 0x6b, 0x71, 0x69, 0x20, 0x33, 0x31]) }, {}],
    ['a parent', { parentSpanId: '00f067aa0ba902b7' }, { parentSpanId: '00f067aa0ba902b7' }],
    ['an empty parent', { parentSpanId: '' }, {}],
    ['a parent that is null', { parentSpanId: null }, {}],
    ['a parent of zeros', { parentSpanId: '0000000000000000' }, {}],
    ['a parent of zeros in base64', { parentSpanId: 'AAAAAAAAAAA=' }, {}],
    ['a parent that is an empty buffer', { parentSpanId: {} }, {}],
    ['a remote parent', { flags: 0x301 }, { isParentRemote: true }],
    ['flags that do not mention the parent', { flags: 0x201 }, {}],
    [
      'times as numbers',
      { startTimeUnixNano: 1780000000000000000, endTimeUnixNano: 1780000001000000000 },
      {},
    ],
    ['times in halves', { startTimeUnixNano: { low: -1271791616, high: 414438545 } }, {}],
    ['no start', { startTimeUnixNano: undefined }, { startNs: 1_780_000_001_000_000_000n }],
    ['no end', { endTimeUnixNano: undefined }, { endNs: null }],
    ['an end of zero', { endTimeUnixNano: '0' }, { endNs: null }],
    [
      'an end before the start',
      { endTimeUnixNano: '1770000000000000000' },
      { endNs: 1_780_000_000_000_000_000n },
    ],
    [
      'a status by number',
      { status: { code: 2, message: 'boom' } },
      { statusCode: 2, statusMessage: 'boom' },
    ],
    ['a status by name', { status: { code: 'STATUS_CODE_ERROR' } }, { statusCode: 2 }],
    ['a status by short name', { status: { code: 'Ok' } }, { statusCode: 1 }],
    ['a status that is null', { status: null }, {}],
    ['an unknown status', { status: { code: 9 } }, {}],
    ['a kind by name', { kind: 'SPAN_KIND_SERVER' }, { kind: 2 }],
    ['an unknown kind', { kind: 'SPAN_KIND_FUTURE' }, { kind: 0 }],
    ['an absent kind', { kind: undefined }, { kind: 0 }],
    ['an absent name', { name: undefined }, { name: '' }],
    ['lists that are null', { attributes: null, events: null, links: null }, {}],
    [
      'events, with and without a time',
      { events: [{ name: 'a', timeUnixNano: '1780000000500000000' }, { name: 'b' }] },
      {
        events: [
          { name: 'a', timeNs: 1_780_000_000_500_000_000n, attributes: attributesOf() },
          { name: 'b', timeNs: 1_780_000_000_000_000_000n, attributes: attributesOf() },
        ],
      },
    ],
    [
      'links, without those that have no ids',
      {
        links: [
          { traceId: '', spanId: '' },
          { traceId: 'abc', spanId: 1 },
          { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: '00f067aa0ba902b7' },
        ],
      },
      {
        links: [
          {
            traceId: '0af7651916cd43dd8448eb211c80319c',
            spanId: '00f067aa0ba902b7',
            attributes: attributesOf(),
          },
        ],
      },
    ],
  ]

  test.each(fields)('reads %s', (_, wire, expected) => {
    expect(decodeJson(requestOf(wireSpan(wire)))).toEqual({
      items: [spanWith(expected)],
      rejected: [],
    })
  })

  const full = spanWith({
    parentSpanId: '00f067aa0ba902b7',
    statusMessage: 'late',
    attributes: attributesOf({ a: 1 }),
    events: [{ name: 'e', timeNs: 1_780_000_000_500_000_000n, attributes: attributesOf({ b: true }) }],
    links: [
      { traceId: '1af7651916cd43dd8448eb211c80319c', spanId: '10f067aa0ba902b7', attributes: attributesOf() },
    ],
    resource: attributesOf({ 'service.name': 'support' }),
    scope: { name: 'ai', version: '5' },
  })

  test('reads snake_case as protobuf prints it', () => {
    const camel = JSON.stringify(spansToOtlpJson([full]))
    const snake = camel.replaceAll(/"([a-z]+(?:[A-Z][a-z]+)+)":/g, (_, name: string) => {
      return `"${name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}":`
    })
    expect(snake).toContain('"resource_spans"')
    expect(decodeJson(snake).items).toEqual([full])
  })

  const one = spansToOtlpJson([spanWith({ name: 'one' })])
  const two = spansToOtlpJson([spanWith({ name: 'two' })])
  const both = [spanWith({ name: 'one' }), spanWith({ name: 'two' })]
  const files: [string, string][] = [
    ['a list of requests', JSON.stringify([one, two])],
    ['one request per line', `${JSON.stringify(one)}\n${JSON.stringify(two)}`],
    [
      'lines with blank lines between and Windows line breaks',
      `\n${JSON.stringify(one)}\r\n\r\n${JSON.stringify(two)}\r\n`,
    ],
    ['a byte order mark', `\uFEFF${JSON.stringify([one, two])}`],
    ['indented JSON', JSON.stringify([one, two], null, 2)],
  ]

  test.each(files)('reads %s', (_, body) => {
    expect(decodeJson(body)).toEqual({ items: both, rejected: [] })
  })

  test('reads a request without spans', () => {
    expect(decodeJson('{}')).toEqual({ items: [], rejected: [] })
    expect(decodeJson({ resourceSpans: null })).toEqual({ items: [], rejected: [] })
    expect(decodeJson({ resourceSpans: [{ scopeSpans: [{ spans: null }] }] }).items).toEqual([])
  })

  test('treats keys like __proto__ as plain keys', () => {
    const body = `{"__proto__":{"polluted":1},"resourceSpans":[{"resource":{"attributes":[{"key":"constructor","value":{"intValue":1}}]},"scopeSpans":[{"spans":[${JSON.stringify(
      wireSpan({
        attributes: [
          {
            key: '__proto__',
            value: { kvlistValue: { values: [{ key: '__proto__', value: { boolValue: true } }] } },
          },
          { key: 'toString', value: { stringValue: 'x' } },
        ],
      }),
    )}]}]}]}`
    const [span] = decodeJson(body).items
    expect(Object.entries(span?.attributes ?? {})).toEqual([
      ['__proto__', Object.assign(emptyAttributes(), JSON.parse('{"__proto__":true}'))],
      ['toString', 'x'],
    ])
    expect(Object.entries(span?.resource ?? {})).toEqual([['constructor', 1]])
    expect(({} as { polluted?: number }).polluted).toBeUndefined()
  })
})
