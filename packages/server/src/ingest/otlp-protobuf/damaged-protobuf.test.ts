import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { KnownError } from '../../errors/known-error.ts'
import { decodeLogs } from '../http/decode-otlp.ts'
import { formatOf, decodeTraces } from '../http/decode-otlp.ts'
import { logs, traces } from '../test/arbitrary-requests.ts'
import { encode, logsRequest, traceRequest } from '../test/protobuf-oracle.ts'

type Mutation = {
  kind: 'set' | 'insert' | 'delete' | 'cut' | 'copy'
  at: number
  byte: number
  length: number
}

const mutations: fc.Arbitrary<Mutation[]> = fc.array(
  fc.record({
    kind: fc.constantFrom('set', 'insert', 'delete', 'cut', 'copy'),
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    byte: fc.oneof(fc.nat({ max: 255 }), fc.constantFrom(0, 0x0a, 0x12, 0x7f, 0x80, 0xff)),
    length: fc.nat({ max: 12 }),
  }),
  { minLength: 1, maxLength: 6 },
)

function mutate(body: Buffer, changes: Mutation[]): Buffer {
  let bytesNow = body
  for (const { kind, at, byte, length } of changes) {
    const position = Math.floor(at * bytesNow.length)
    const before = bytesNow.subarray(0, position)
    const after = bytesNow.subarray(position)
    if (kind === 'set') bytesNow = Buffer.concat([before, Buffer.of(byte), after.subarray(1)])
    else if (kind === 'insert') bytesNow = Buffer.concat([before, Buffer.alloc(length, byte), after])
    else if (kind === 'delete') bytesNow = Buffer.concat([before, after.subarray(length)])
    else if (kind === 'copy') bytesNow = Buffer.concat([before, after.subarray(0, length), after])
    else bytesNow = before
  }
  return bytesNow
}

function outcomeOf(decode: () => { rejected: unknown[] }): 'decoded' | 'refused' {
  try {
    decode()
    return 'decoded'
  } catch (error) {
    if (error instanceof KnownError) return 'refused'
    throw error
  }
}

describe('damaged protobuf', () => {
  const outcome = expect.stringMatching(/^(decoded|refused)$/)

  test('of spans is decoded or refused, never anything else', () => {
    fc.assert(
      fc.property(traces, mutations, (message, changes) => {
        const body = mutate(encode(traceRequest, message), changes)
        expect(outcomeOf(() => decodeTraces(body, 'protobuf'))).toEqual(outcome)
      }),
      { numRuns: 400 },
    )
  })

  test('of log records is decoded or refused, never anything else', () => {
    fc.assert(
      fc.property(logs, mutations, (message, changes) => {
        const body = mutate(encode(logsRequest, message), changes)
        expect(outcomeOf(() => decodeLogs(body, 'protobuf'))).toEqual(outcome)
      }),
      { numRuns: 400 },
    )
  })

  test('that is random noise is decoded or refused, never anything else', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (noise) => {
        expect(outcomeOf(() => decodeTraces(Buffer.from(noise), formatOf(Buffer.from(noise), '')))).toEqual(
          outcome,
        )
      }),
      { numRuns: 400 },
    )
  })
})
