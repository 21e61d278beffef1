import fc from 'fast-check'
import { expect, test } from 'vitest'
import { EventStream, JsonLines } from './event-stream.ts'

const body =
  ': hello\r\n\r\nevent: a\r\ndata: {"text":"Grüße"}\r\n\r\nid: 7\ndata:{"n":1}\n\ndata: one\ndata: two\n\nretry: 5\n\ndata: [DONE]\n\n'
const data = ['{"text":"Grüße"}', '{"n":1}', 'one\ntwo', '[DONE]']

test('events are parsed from arbitrary chunks', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(body.length)), (cuts) => {
      const places = [...new Set([0, ...cuts, body.length])].sort((left, right) => left - right)
      const stream = new EventStream()
      const found = places.slice(1).flatMap((place, index) => stream.add(body.slice(places[index], place)))
      expect([...found, ...stream.end()]).toEqual(data)
    }),
  )
})

test('an event without a final blank line is parsed at the end', () => {
  const stream = new EventStream()
  expect(stream.add('data: {"last":true}')).toEqual([])
  expect(stream.end()).toEqual(['{"last":true}'])
  expect(stream.end()).toEqual([])
})

test('lines of JSON are parsed from arbitrary chunks', () => {
  const lines = new JsonLines()
  expect([
    ...lines.add('{"a":'),
    ...lines.add('1}\n\n{"b":2}\n{"c"'),
    ...lines.add(':3}'),
    ...lines.end(),
  ]).toEqual(['{"a":1}', '{"b":2}', '{"c":3}'])
})
