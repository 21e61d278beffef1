import { describe, expect, test } from 'vitest'
import { ProtobufReader } from './protobuf-reader.ts'
import { errorOf } from '../test/sample-span.ts'

function readerOf(hex: string): ProtobufReader {
  return new ProtobufReader(Buffer.from(hex, 'hex'), 'Message')
}

test.each([
  ['00', 0],
  ['7f', 127],
  ['8001', 128],
  ['ffffffff0f', 4294967295],
  ['ffffffffffffff0f', 2 ** 53 - 1],
  ['808000', 0],
])('the varint %s is %d', (hex, value) => {
  const reader = readerOf(hex)
  expect(reader.readVarint()).toBe(value)
  expect(reader.hasMore()).toBe(false)
})

test.each([
  ['00', 0],
  ['01', 1],
  ['ffffffff07', 2147483647],
  ['8080808008', 2147483648],
  ['ffffffff0f', 4294967295],
  ['8080808010', 4294967296],
  ['ffffffffffffff0f', 9007199254740991],
  ['8080808080808010', '9007199254740992'],
  ['ffffffffffffffff7f', '9223372036854775807'],
  ['ffffffffffffffffff01', -1],
  ['80808080f8ffffffff01', -2147483648],
  ['818080808080808070', '8070450532247928833'],
  ['81808080808080f0ff01', -9007199254740991],
  ['80808080808080f0ff01', '-9007199254740992'],
  ['80808080808080808001', '-9223372036854775808'],
])('the int64 %s is %s', (hex, value) => {
  const reader = readerOf(hex)
  expect(reader.readInt64()).toBe(value)
  expect(reader.hasMore()).toBe(false)
})

test('a fixed64 keeps every nanosecond', () => {
  expect(readerOf('ffffffffffffffff').readFixed64()).toBe(2n ** 64n - 1n)
  expect(readerOf('15cd5b0700000000').readFixed64()).toBe(123_456_789n)
})

describe('never reads beyond the message', () => {
  test.each([
    [
      'a number of more than ten bytes',
      'ffffffffffffffffffff01',
      (reader: ProtobufReader) => reader.readVarint(),
    ],
    [
      'an int64 of more than ten bytes',
      'ffffffffffffffffffff01',
      (reader: ProtobufReader) => reader.readInt64(),
    ],
    ['a truncated int64', 'ffff', (reader: ProtobufReader) => reader.readInt64()],
    ['a missing number', '', (reader: ProtobufReader) => reader.readVarint()],
    ['a string longer than the rest', '0561', (reader: ProtobufReader) => reader.readString()],
    ['a length beyond any memory', 'ffffffffffffffff7f', (reader: ProtobufReader) => reader.readHex()],
    ['a truncated double', '00000000000000', (reader: ProtobufReader) => reader.readDouble()],
    ['a field number beyond the last', '8080808080808001', (reader: ProtobufReader) => reader.readTag()],
  ])('%s', (_, hex, read) => {
    expect(errorOf(() => read(readerOf(hex)))).toMatchObject({
      name: 'DecodeError',
      message: expect.stringMatching(/ \(byte \d+ in Message\)$/) as string,
    })
  })

  test('even if the buffer continues', () => {
    const reader = readerOf('0180ffff')
    reader.enter('Inner')
    expect(errorOf(() => reader.readVarint())).toMatchObject({
      message: 'a number is truncated (byte 1 in Message > Inner)',
    })
    reader.leaveTo(0)
    expect(reader.position).toBe(2)
  })
})
