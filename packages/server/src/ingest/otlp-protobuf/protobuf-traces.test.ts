import { describe, expect, test } from 'vitest'
import { decodeTraces } from '../http/decode-otlp.ts'
import { ProtobufWriter } from './protobuf-writer.ts'
import { attributesOf, errorOf, spanWith } from '../test/sample-span.ts'

const protobuf = 'protobuf'

describe('protobuf, byte by byte', () => {
  /** A request with spans, each given by a function that writes its fields. */
  function requestBytes(...spans: ((writer: ProtobufWriter) => void)[]): Buffer {
    const writer = new ProtobufWriter()
    writer.message(1, () =>
      writer.message(2, () => {
        for (const write of spans) writer.message(2, () => write(writer))
      }),
    )
    return writer.finish()
  }

  function writeGood(writer: ProtobufWriter): void {
    writer.hex(1, '0af7651916cd43dd8448eb211c80319c')
    writer.hex(2, 'b7ad6b7169203331')
    writer.text(5, 'chat')
    writer.varint(6, 3)
    writer.fixed64(7, 1_780_000_000_000_000_000n)
    writer.fixed64(8, 1_780_000_001_000_000_000n)
  }

  const chat = 'span "chat" (b7ad6b7169203331)'
  const damaged: [string, (writer: ProtobufWriter) => void, string, string][] = [
    [
      'a group',
      (writer) => writer.tag(20, 3),
      chat,
      'field 20 has wire type 3, which OTLP does not use (byte 62 in ExportTraceServiceRequest > ResourceSpans > ScopeSpans > Span)',
    ],
    [
      'field 0',
      (writer) => writer.rawVarint(2),
      chat,
      'there is no field 0 (byte 61 in ExportTraceServiceRequest > ResourceSpans > ScopeSpans > Span)',
    ],
    [
      'a field longer than its span',
      (writer) => {
        writer.tag(9, 2)
        writer.rawVarint(99)
      },
      chat,
      'a field claims 99 bytes, but 0 are left (byte 62 in ExportTraceServiceRequest > ResourceSpans > ScopeSpans > Span)',
    ],
    [
      'a truncated time',
      (writer) => {
        writer.tag(7, 1)
        writer.rawVarint(1)
      },
      chat,
      '8 bytes are needed, but 1 are left (byte 61 in ExportTraceServiceRequest > ResourceSpans > ScopeSpans > Span)',
    ],
    [
      'a truncated number',
      (writer) => {
        writer.tag(6, 0)
        writer.buffer[writer.position++] = 0x80
      },
      chat,
      'a number is truncated (byte 61 in ExportTraceServiceRequest > ResourceSpans > ScopeSpans > Span)',
    ],
    [
      'a short trace id',
      (writer) => writer.hex(1, 'abcd'),
      chat,
      'its trace id "abcd" (2 bytes) is not 16 bytes',
    ],
    [
      'a long span id',
      (writer) => writer.hex(2, 'ab'.repeat(12)),
      `span "chat" (${'ab'.repeat(12)})`,
      `its span id "${'ab'.repeat(12)}" (12 bytes) is not 8 bytes`,
    ],
  ]

  test.each(damaged)(
    'a span with %s is rejected by name, and the next one is kept',
    (_, damage, item, reason) => {
      const body = requestBytes((writer) => {
        writeGood(writer)
        damage(writer)
      }, writeGood)
      expect(decodeTraces(body, protobuf)).toEqual({
        items: [spanWith()],
        rejected: [{ item, reason }],
      })
    },
  )

  test('an invalid resource rejects only its own spans', () => {
    const writer = new ProtobufWriter()
    writer.message(1, () => {
      writer.message(2, () => writer.message(2, () => writeGood(writer)))
      writer.message(1, () => writer.tag(1, 4))
    })
    const good = requestBytes(writeGood)
    expect(decodeTraces(Buffer.concat([writer.finish(), good]), protobuf)).toEqual({
      items: [spanWith()],
      rejected: [
        {
          item: chat,
          reason:
            'its resource is invalid: field 1 has wire type 4, which OTLP does not use (byte 63 in ExportTraceServiceRequest > ResourceSpans > Resource)',
        },
      ],
    })
  })

  test('a resource and scope after their spans still apply to them', () => {
    const writer = new ProtobufWriter()
    writer.message(1, () => {
      writer.message(2, () => {
        writer.message(2, () => writeGood(writer))
        writer.message(1, () => writer.text(1, 'ai'))
      })
      writer.message(1, () =>
        writer.message(1, () => {
          writer.text(1, 'service.name')
          writer.message(2, () => writer.text(1, 'support'))
        }),
      )
    })
    expect(decodeTraces(writer.finish(), protobuf).items).toEqual([
      spanWith({ resource: attributesOf({ 'service.name': 'support' }), scope: { name: 'ai', version: '' } }),
    ])
  })

  test('a resource in several parts is one resource', () => {
    const writer = new ProtobufWriter()
    writer.message(1, () => {
      for (const key of ['a', 'b']) {
        writer.message(1, () =>
          writer.message(1, () => {
            writer.text(1, key)
            writer.message(2, () => writer.int64(3, -1))
          }),
        )
      }
      writer.message(2, () => writer.message(2, () => writeGood(writer)))
    })
    expect(decodeTraces(writer.finish(), protobuf).items).toEqual([
      spanWith({ resource: attributesOf({ a: -1, b: -1 }) }),
    ])
  })

  test('invalid UTF-8 keeps the valid part', () => {
    const body = requestBytes((writer) => {
      writeGood(writer)
      writer.message(9, () => {
        writer.text(1, 'a\0')
        writer.message(2, () => writer.hex(1, '61ff0062'))
      })
    })
    expect(decodeTraces(body, protobuf).items).toEqual([
      spanWith({ attributes: attributesOf({ 'a\0': 'a\ufffd\0b' }) }),
    ])
  })

  test('a truncated body is refused, unless it ends between two resources', () => {
    const first = requestBytes(writeGood)
    const whole = Buffer.concat([first, requestBytes(writeGood, writeGood)])
    const lengths = Array.from({ length: whole.length }, (_, length) => length)
    const readable = lengths.filter(
      (length) => errorOf(() => decodeTraces(whole.subarray(0, length), protobuf)) === undefined,
    )
    expect(readable).toEqual([0, first.length])
    expect(errorOf(() => decodeTraces(whole.subarray(0, -1), protobuf))).toMatchObject({
      code: 'OTLP_UNREADABLE',
      message:
        'The body is not valid OTLP protobuf: a field claims 114 bytes, but 113 are left (byte 62 in ExportTraceServiceRequest). Nothing was stored.',
    })
  })

  test('a span that is longer than its enclosing list makes the request invalid', () => {
    const writer = new ProtobufWriter()
    writer.message(1, () =>
      writer.message(2, () => {
        writer.message(2, () => writeGood(writer))
        writer.tag(2, 2)
        writer.rawVarint(300)
      }),
    )
    expect(errorOf(() => decodeTraces(writer.finish(), protobuf))).toMatchObject({
      code: 'OTLP_UNREADABLE',
      message:
        'The body is not valid OTLP protobuf: a field claims 300 bytes, but 0 are left (byte 63 in ExportTraceServiceRequest > ResourceSpans > ScopeSpans). Nothing was stored.',
    })
  })
})
