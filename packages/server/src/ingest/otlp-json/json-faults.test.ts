import { describe, expect, test } from 'vitest'
import { decodeJson, requestOf } from '../test/decode-json.ts'
import { errorOf, spanWith, wireSpan } from '../test/sample-span.ts'

describe('a malformed span is named, and the rest of its batch is kept', () => {
  const chat = 'span "chat" (b7ad6b7169203331)'
  const inJson: [string, unknown, string, string][] = [
    ['a string', 'text', 'span #2', 'it is the string "text", not an object'],
    ['null', null, 'span #2', 'it is null, not an object'],
    ['a short trace id', wireSpan({ traceId: 'abcd' }), chat, 'its trace id "abcd" is not 16 bytes'],
    [
      'a trace id that is not hex',
      wireSpan({ traceId: 'z'.repeat(32) }),
      chat,
      `its trace id "${'z'.repeat(32)}" is not 16 bytes`,
    ],
    ['a trace id that is a number', wireSpan({ traceId: 5 }), chat, 'its trace id (5) is not 16 bytes'],
    ['a short span id', wireSpan({ spanId: 'abcd' }), 'span "chat"', 'its span id "abcd" is not 8 bytes'],
    [
      'a long parent id',
      wireSpan({ parentSpanId: 'ab'.repeat(12) }),
      chat,
      `its parent span id "${'ab'.repeat(12)}" is not 8 bytes`,
    ],
    [
      'a time as a date',
      wireSpan({ startTimeUnixNano: '2026-05-28T20:26:40Z' }),
      chat,
      'its start time is the string "2026-05-28T20:26:40Z", not nanoseconds since 1970-01-01 UTC',
    ],
    [
      'a negative time',
      wireSpan({ endTimeUnixNano: -1 }),
      chat,
      'its end time is -1, not nanoseconds since 1970-01-01 UTC',
    ],
    [
      'a name that is a list',
      wireSpan({ name: ['chat'] }),
      'span (b7ad6b7169203331)',
      'its name is a list, not a string',
    ],
    [
      'attributes as an object',
      wireSpan({ attributes: { a: 1 } }),
      chat,
      'its list of attributes is an object, not a list',
    ],
    [
      'an attribute that is null',
      wireSpan({ attributes: [null] }),
      chat,
      'an attribute is null, not an object',
    ],
    [
      'a key that is a number',
      wireSpan({ attributes: [{ key: 1, value: {} }] }),
      chat,
      'the key of an attribute is 1, not a string',
    ],
    [
      'a bare value',
      wireSpan({ attributes: [{ key: 'a', value: 'b' }] }),
      chat,
      'the value of "a" is the string "b", not an object',
    ],
    [
      'a string that is a number',
      wireSpan({ attributes: [{ key: 'a', value: { stringValue: 1 } }] }),
      chat,
      'the value of "a" is 1, not a string',
    ],
    [
      'an integer that is a word',
      wireSpan({ attributes: [{ key: 'a', value: { intValue: 'many' } }] }),
      chat,
      'the value of "a" is the string "many", not an integer',
    ],
    [
      'a double that is a word',
      wireSpan({ attributes: [{ key: 'a', value: { doubleValue: 'many' } }] }),
      chat,
      'the value of "a" is the string "many", not a number',
    ],
    [
      'a boolean that is a number',
      wireSpan({ attributes: [{ key: 'a', value: { boolValue: 1 } }] }),
      chat,
      'the value of "a" is 1, not true or false',
    ],
    [
      'bytes that are not base64',
      wireSpan({ attributes: [{ key: 'a', value: { bytesValue: '***' } }] }),
      chat,
      'the value of "a" is the string "***", not base64',
    ],
    [
      'a list that is not one',
      wireSpan({ attributes: [{ key: 'a', value: { arrayValue: { values: 'b' } } }] }),
      chat,
      'the value of "a" is the string "b", not a list',
    ],
    [
      'a map that is not one',
      wireSpan({ attributes: [{ key: 'a', value: { kvlistValue: [] } }] }),
      chat,
      'the value of "a" is a list, not an object',
    ],
    [
      'a status that is a string',
      wireSpan({ status: 'ERROR' }),
      chat,
      'its status is the string "ERROR", not an object',
    ],
    [
      'events that are an object',
      wireSpan({ events: {} }),
      chat,
      'its list of events is an object, not a list',
    ],
    [
      'an event that is a string',
      wireSpan({ events: ['tick'] }),
      chat,
      'an event is the string "tick", not an object',
    ],
    [
      'a link that is a string',
      wireSpan({ links: ['tick'] }),
      chat,
      'a link is the string "tick", not an object',
    ],
  ]

  test.each(inJson)('JSON with %s', (_, bad, item, reason) => {
    const good = wireSpan({ spanId: '2222222222222222', name: 'after' })
    expect(decodeJson(requestOf(wireSpan(), bad, good))).toEqual({
      items: [spanWith(), spanWith({ spanId: '2222222222222222', name: 'after' })],
      rejected: [{ item, reason }],
    })
  })

  test('JSON with a malformed resource or scope', () => {
    const request = {
      resourceSpans: [
        { resource: { attributes: 'none' }, scopeSpans: [{ spans: [wireSpan()] }] },
        { scopeSpans: [{ scope: { name: 5 }, spans: [wireSpan()] }, { spans: [wireSpan()] }] },
      ],
    }
    expect(decodeJson(request)).toEqual({
      items: [spanWith()],
      rejected: [
        {
          item: chat,
          reason: 'its resource is invalid: its list of attributes is the string "none", not a list',
        },
        { item: chat, reason: 'its scope is invalid: its name is 5, not a string' },
      ],
    })
  })
})

describe('JSON that is not a request is refused with the position', () => {
  const bodies: [string, string, string][] = [
    ['nothing', '', 'it is not valid JSON at line 1, column 1: Unexpected end of JSON input'],
    [
      'a word',
      'hello',
      `it is not valid JSON at line 1, column 1: Unexpected token 'h', "hello" is not valid JSON`,
    ],
    ['a missing value', '{\n "resourceSpans": [,]\n}', 'it is not valid JSON at line 2, column 20: '],
    [
      'a truncated body',
      '{"resourceSpans":[{"scopeSpans":',
      'it is not valid JSON at line 1, column 33: Unexpected end of JSON input',
    ],
    [
      'a broken line among valid ones',
      '{}\n{}\n{"resourceSpans":[}',
      'it is not valid JSON at line 3, column 19: ',
    ],
    ['a string', '"resourceSpans"', 'a request in the body is the string "resourceSpans", not an object'],
    ['null', 'null', 'a request in the body is null, not an object'],
    ['a list of numbers', '[1]', 'a request in the body is 1, not an object'],
    ['spans by resource as a string', '{"resourceSpans":"x"}', 'resourceSpans is the string "x", not a list'],
    ['a resource that is null', '{"resourceSpans":[null]}', 'resourceSpans[0] is null, not an object'],
    [
      'spans by scope as an object',
      '{"resourceSpans":[{},{"scopeSpans":{}}]}',
      'resourceSpans[1].scopeSpans is an object, not a list',
    ],
    [
      'a scope that is a number',
      '{"resourceSpans":[{"scopeSpans":[5]}]}',
      'resourceSpans[0].scopeSpans[0] is 5, not an object',
    ],
    [
      'spans as a string',
      '{"resourceSpans":[{"scopeSpans":[{"spans":"x"}]}]}',
      'resourceSpans[0].scopeSpans[0].spans is the string "x", not a list',
    ],
    ['logs', '{"resourceLogs":[]}', 'it contains logs, which go to /v1/logs'],
  ]

  test.each(bodies)('%s', (_, body, reason) => {
    const error = errorOf(() => decodeJson(body)) as Error
    expect(error).toMatchObject({ name: 'KnownError', code: 'OTLP_UNREADABLE' })
    expect(error.message).toContain(`The body is not valid OTLP json: ${reason}`)
    expect(error.message).toMatch(/ Nothing was stored\.$/)
  })
})
