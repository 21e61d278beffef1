import { expect, test } from 'vitest'
import { readExportResponse } from './export-response.ts'

const read = (contentType: string | undefined, body: string | readonly number[]) =>
  readExportResponse({ contentType, body: typeof body === 'string' ? Buffer.from(body) : Buffer.from(body) })

const stored = { rejectedSteps: 0, message: '' }

test.each<[string | undefined, string | readonly number[]]>([
  ['application/json', '{}'],
  ['application/json; charset=utf-8', '{"partialSuccess":{}}'],
  ['application/json', '{"partialSuccess":null}'],
  ['application/json', ''],
  ['application/x-protobuf', []],
  ['application/x-protobuf', [0x0a, 0x00]],
  [undefined, ''],
  [undefined, '{}'],
])('%s with %j is the response of an OTLP server', (contentType, body) => {
  expect(read(contentType, body)).toEqual(stored)
})

test.each<[string | undefined, string | readonly number[]]>([
  ['text/html; charset=utf-8', '<html>Log in</html>'],
  ['text/html', ''],
  ['text/plain', 'OK'],
  [undefined, '<!doctype html>'],
  ['application/json', '<html></html>'],
  ['application/json', '[]'],
  ['application/json', '{"login":"required"}'],
  ['application/x-protobuf', '<html></html>'],
])('%s with %j is not', (contentType, body) => {
  expect(read(contentType, body)).toBeUndefined()
})

test('a partial success tells how many steps were rejected, and why', () => {
  const json = JSON.stringify({ partialSuccess: { rejectedSpans: '3', errorMessage: 'no id' } })
  const message = [...Buffer.from('no id')]
  const partial = [0x08, 0x83, 0x02, 0x12, message.length, ...message]
  expect([
    read('application/json', json),
    read('application/json', json.replace('S', '_s').replace('dS', 'd_s').replace('rM', 'r_m')),
    read('application/x-protobuf', [0x0a, partial.length, ...partial]),
  ]).toEqual([
    { rejectedSteps: 3, message: 'no id' },
    { rejectedSteps: 3, message: 'no id' },
    { rejectedSteps: 259, message: 'no id' },
  ])
})
