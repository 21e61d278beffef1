import protobuf from 'protobufjs'
import { describe, expect, test } from 'vitest'
import { encodeStatus } from '../otlp-protobuf/protobuf-responses.ts'
import { encodeExportResponse } from './ingest-handler.ts'

const { root } = protobuf.parse(`
syntax = "proto3";
message ExportTraceServiceResponse { ExportTracePartialSuccess partial_success = 1; }
message ExportTracePartialSuccess { int64 rejected_spans = 1; string error_message = 2; }
message ExportLogsServiceResponse { ExportLogsPartialSuccess partial_success = 1; }
message ExportLogsPartialSuccess { int64 rejected_log_records = 1; string error_message = 2; }
message Status { int32 code = 1; string message = 2; }
`)

function readAs(type: string, body: Buffer): unknown {
  const message = root.lookupType(type)
  return message.toObject(message.decode(body), { longs: String })
}

const rejected = [
  { item: 'span "chat" (b7ad6b7169203331)', reason: 'it has no trace id' },
  { item: 'span #2', reason: 'it has no span id' },
]
const errorMessage = 'span "chat" (b7ad6b7169203331): it has no trace id; span #2: it has no span id'

test('the response to a batch without rejections is an empty message', () => {
  expect(encodeExportResponse('traces', 'json', [])).toEqual({
    contentType: 'application/json',
    body: Buffer.from('{}'),
  })
  expect(encodeExportResponse('logs', 'protobuf', [])).toEqual({
    contentType: 'application/x-protobuf',
    body: Buffer.alloc(0),
  })
})

describe('a partial success counts and lists the rejections', () => {
  test('in JSON', () => {
    expect(JSON.parse(encodeExportResponse('traces', 'json', rejected).body.toString())).toEqual({
      partialSuccess: { rejectedSpans: '2', errorMessage },
    })
    expect(JSON.parse(encodeExportResponse('logs', 'json', rejected).body.toString())).toEqual({
      partialSuccess: { rejectedLogRecords: '2', errorMessage },
    })
  })

  test('in protobuf', () => {
    expect(
      readAs('ExportTraceServiceResponse', encodeExportResponse('traces', 'protobuf', rejected).body),
    ).toEqual({
      partialSuccess: { rejectedSpans: '2', errorMessage },
    })
    expect(
      readAs('ExportLogsServiceResponse', encodeExportResponse('logs', 'protobuf', rejected).body),
    ).toEqual({
      partialSuccess: { rejectedLogRecords: '2', errorMessage },
    })
  })

  test('with the first few of many', () => {
    const many = Array.from({ length: 500 }, (_, index) => ({
      item: `span #${index + 1}`,
      reason: 'it has no span id',
    }))
    const { partialSuccess } = JSON.parse(encodeExportResponse('traces', 'json', many).body.toString()) as {
      partialSuccess: unknown
    }
    const listed = many.slice(0, 10).map(({ item, reason }) => `${item}: ${reason}`)
    expect(partialSuccess).toEqual({
      rejectedSpans: '500',
      errorMessage: [...listed, 'and 490 more'].join('; '),
    })
  })

  test.each([300, 5000])('within 2 KB, even if each reason has %i characters', (length) => {
    const many = Array.from({ length: 20 }, () => ({ item: 'span #1', reason: 'é'.repeat(length) }))
    const message = JSON.parse(encodeExportResponse('traces', 'json', many).body.toString()) as {
      partialSuccess: { errorMessage: string }
    }
    expect(Buffer.byteLength(message.partialSuccess.errorMessage)).toBeLessThanOrEqual(2048)
    expect(message.partialSuccess.errorMessage).toMatch(/(and \d+ more|20 rejected)$/)
  })
})

test('the response to a failed protobuf request is a google.rpc.Status', () => {
  expect(readAs('Status', encodeStatus('The body cannot be read.'))).toEqual({
    message: 'The body cannot be read.',
  })
})
