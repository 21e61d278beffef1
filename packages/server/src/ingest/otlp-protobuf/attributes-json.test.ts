import type { Span } from '@playhead/model'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { DecodedSpan } from '../../store/decoded-span.ts'
import { decodeTraces } from '../http/decode-otlp.ts'
import { traces } from '../test/arbitrary-requests.ts'
import { encode, traceRequest } from '../test/protobuf-oracle.ts'
import { ProtobufWriter } from './protobuf-writer.ts'

/** The JSON that was written while a span was decoded. */
function writtenJson(span: Span): string | undefined {
  const text = DecodedSpan.attributesJsonOf(span)
  if (text === undefined) return undefined
  const json = text.buffer.bytes.toString('utf8', text.start, text.end)
  expect(text.characters).toBe(json.length)
  return json
}

/** A span whose attributes are the KeyValues that these functions write. */
function decodeSpan(...attributes: ((writer: ProtobufWriter) => void)[]): Span {
  const writer = new ProtobufWriter()
  const writeSpan = () => {
    writer.hex(1, '0af7651916cd43dd8448eb211c80319c')
    writer.hex(2, 'b7ad6b7169203331')
    writer.fixed64(7, 1_780_000_000_000_000_000n)
    for (const write of attributes) writer.message(9, () => write(writer))
  }
  writer.message(1, () => writer.message(2, () => writer.message(2, writeSpan)))
  return decodeTraces(writer.finish(), 'protobuf').items[0]!
}

function textAttribute(key: string, value: string): (writer: ProtobufWriter) => void {
  return (writer) => {
    writer.text(1, key)
    writer.message(2, () => writer.text(1, value))
  }
}

test('the JSON of attributes that is written while they are decoded is theirs', () => {
  fc.assert(
    fc.property(traces, (message) => {
      for (const span of decodeTraces(encode(traceRequest, message), 'protobuf').items) {
        const json = writtenJson(span)
        if (json !== undefined) expect(JSON.parse(json)).toEqual({ ...span.attributes })
      }
    }),
    { numRuns: 150 },
  )
})

test.each([
  ['quotes, backslashes and newlines', '{"text":"a \\"quoted\\"\\n\\tline"} \\'],
  ['other control characters', 'bell \u0007, escape \u001b[0m, delete \u007f'],
  ['letters beyond ASCII', 'Größe 大小 😀'],
  ['a replacement character', 'half \ufffd a letter'],
  ['a long text', 'all work and no play "makes" Jack a dull boy\n'.repeat(300)],
])('a text with %s is written as JSON.stringify would', (_, text) => {
  const span = decodeSpan(textAttribute('short', 'x'), textAttribute(text.slice(0, 60), text))
  expect(writtenJson(span)).toBe(JSON.stringify(span.attributes))
})

test('bytes that are no UTF-8 are written as they are read', () => {
  const span = decodeSpan((writer) => {
    writer.text(1, 'damaged')
    writer.message(2, () => writer.hex(1, 'ff4142c3'.repeat(12)))
  })
  expect(writtenJson(span)).toBe(JSON.stringify(span.attributes))
})

test('attributes without the usual fields are read, and not written', () => {
  const twice = decodeSpan(textAttribute('key', 'first'), textAttribute('key', 'second'))
  const reversed = decodeSpan((writer) => {
    writer.message(2, () => writer.text(1, 'value'))
    writer.text(1, 'key')
  })
  const repeated = decodeSpan((writer) => {
    writer.text(1, 'key')
    writer.message(2, () => {
      writer.text(1, 'a text')
      writer.varint(3, 7)
    })
  })
  const infinite = decodeSpan((writer) => {
    writer.text(1, 'key')
    writer.message(2, () => writer.double(4, Infinity))
  })
  expect([twice, reversed, repeated, infinite].map(({ attributes }) => ({ ...attributes }))).toEqual([
    { key: 'second' },
    { key: 'value' },
    { key: 7 },
    {},
  ])
  for (const span of [twice, reversed, repeated, infinite]) expect(writtenJson(span)).toBeUndefined()
})

test('a span without attributes has an empty object', () => {
  expect(writtenJson(decodeSpan())).toBe('{}')
})
