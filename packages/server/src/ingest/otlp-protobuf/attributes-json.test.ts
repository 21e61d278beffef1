import type { Span } from '@playhead/model'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { NativeBlock } from '../../log/native-block.ts'
import { DecodedSpan } from '../../store/decoded-span.ts'
import { stepColumns, toStepRow, type StepRow } from '../../store/steps-table.ts'
import { bareOutline } from '../../store/test/sample-steps.ts'
import { decodeTraces } from '../http/decode-otlp.ts'
import { traces } from '../test/arbitrary-requests.ts'
import { encode, traceRequest } from '../test/protobuf-oracle.ts'
import { ProtobufWriter } from './protobuf-writer.ts'

/** The JSON that was written while a span was decoded. */
function writtenJson(span: Span): string | undefined {
  return DecodedSpan.attributesJsonOf(span)?.toString()
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
        const json = DecodedSpan.attributesJsonOf(span)
        if (json === undefined) continue
        expect(json.toString()).toHaveLength(json.length)
        expect(JSON.parse(json.toString())).toEqual({ ...span.attributes })
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

test.each<[string, ((writer: ProtobufWriter) => void)[], object, string | undefined]>([
  [
    'came twice',
    [textAttribute('key', 'first'), textAttribute('key', 'second')],
    { key: 'second' },
    undefined,
  ],
  [
    'came after its value',
    [
      (writer) => {
        writer.message(2, () => writer.text(1, 'value'))
        writer.text(1, 'key')
      },
    ],
    { key: 'value' },
    '{"key":"value"}',
  ],
  [
    'has two values',
    [
      (writer) => {
        writer.text(1, 'key')
        writer.message(2, () => {
          writer.text(1, 'a text')
          writer.varint(3, 7)
        })
      },
    ],
    { key: 7 },
    '{"key":7}',
  ],
  [
    'has no value that JSON has',
    [
      (writer) => {
        writer.text(1, 'key')
        writer.message(2, () => writer.double(4, Infinity))
      },
    ],
    {},
    undefined,
  ],
])('an attribute whose key %s is read, and written if that is right', (_, attributes, read, json) => {
  const span = decodeSpan(...attributes)

  expect({ ...span.attributes }).toEqual(read)
  expect(writtenJson(span)).toBe(json)
})

test('a copy of a span, and a span of an earlier request, have no JSON that was written', () => {
  const span = decodeSpan(textAttribute('key', 'value'))
  expect(writtenJson(span)).toBe('{"key":"value"}')
  expect(writtenJson({ ...span })).toBeUndefined()

  const text = DecodedSpan.attributesJsonOf(span)!
  decodeSpan(textAttribute('key', 'another'))
  expect(writtenJson(span)).toBeUndefined()
  expect(() => text.toString()).toThrow('used again')
})

test('a row is the same whether the JSON was written or not', () => {
  fc.assert(
    fc.property(traces, (message) => {
      for (const span of decodeTraces(encode(traceRequest, message), 'protobuf').items) {
        const [written, plain] = [rowOf(span), rowOf({ ...span })]
        expect(written.version).toBe(plain.version)
        expect(JSON.parse(String(written.attributes))).toEqual(JSON.parse(String(plain.attributes)))
        const text = String(written.attributes)
        expect(encodeAttributes(written)).toEqual(encodeAttributes({ ...plain, attributes: text }))
      }
    }),
    { numRuns: 50 },
  )
})

function rowOf(span: Span): StepRow {
  const derivation = { normalizerVersion: 1, priceRevision: 1 }
  return toStepRow('p', span, bareOutline, { receivedAtMs: 0, arrival: 1, derivation, resource: '{}' })
}

function encodeAttributes(row: StepRow): Buffer {
  const block = new NativeBlock<StepRow>({ attributes: stepColumns.attributes! })
  block.append(row)
  return Buffer.concat(block.pieces())
}

test('a span without attributes has an empty object', () => {
  expect(writtenJson(decodeSpan())).toBe('{}')
})
