import { readFileSync } from 'node:fs'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodeLogs } from '../http/decode-otlp.ts'
import { decodeTraces } from '../http/decode-otlp.ts'
import { logs, traces } from '../test/arbitrary-requests.ts'
import { encode, logsByOracle, logsRequest, spansByOracle, traceRequest } from '../test/protobuf-oracle.ts'

describe('our reader agrees with protobufjs', () => {
  test('on every span of any valid request', () => {
    fc.assert(
      fc.property(traces, (message) => {
        const body = encode(traceRequest, message)
        const expected = spansByOracle(body)
        const decoded = decodeTraces(body, 'protobuf')
        expect(decoded.items).toEqual(expected.filter((expectedSpan) => expectedSpan !== null))
        expect(decoded.rejected).toHaveLength(expected.filter((expectedSpan) => expectedSpan === null).length)
      }),
      { numRuns: 400 },
    )
  })

  test('on every log record of any valid request', () => {
    fc.assert(
      fc.property(logs, (message) => {
        const body = encode(logsRequest, message)
        const expected = logsByOracle(body)
        const decoded = decodeLogs(body, 'protobuf')
        expect(decoded.items).toEqual(expected.filter((record) => record !== null))
        expect(decoded.rejected).toHaveLength(expected.filter((record) => record === null).length)
      }),
      { numRuns: 400 },
    )
  })

  test.each(['openinference-js', 'traceloop-0.27'])('on a recorded request of %s', (folder) => {
    const path = new URL(`../../../../../fixtures/otlp/${folder}/001-POST_v1_traces.bin`, import.meta.url)
    const body = readFileSync(path)
    expect(decodeTraces(body, 'protobuf')).toEqual({
      items: spansByOracle(body),
      rejected: [],
    })
  })
})
