import { expect, test } from 'vitest'
import { createPricer } from '@playhead/model/prices'
import { renderMetrics } from '../api/health-routes.ts'
import { createCounters } from './counters.ts'
import { deriveOutline } from './derive-step.ts'
import { DialectFailures } from './dialect-failures.ts'
import { spanWith } from './test/sample-span.ts'

test('each dialect is counted every time and reported once an hour', () => {
  const lines: string[] = []
  let nowMs = 0
  const failures = new DialectFailures(
    (line) => lines.push(line),
    () => nowMs,
  )
  const failure = { dialect: 'mastra', message: 'TypeError: x' }
  failures.note([failure, failure])
  failures.note([{ dialect: 'langfuse', message: 'y'.repeat(5_000) }])
  nowMs = 3_600_000
  failures.note([failure])

  expect(Object.fromEntries(failures.counts)).toEqual({ mastra: 3, langfuse: 1 })
  expect(lines.map((line) => line.split('. ', 1)[0])).toEqual([
    'The dialect "mastra" failed on a span (TypeError: x), 1 so far',
    `The dialect "langfuse" failed on a span (${'y'.repeat(200)}), 1 so far`,
    'The dialect "mastra" failed on a span (TypeError: x), 3 so far',
  ])
})

test('a span that cannot be read is stored as a plain step and shows in the metrics', () => {
  const failures = new DialectFailures(() => {})
  const attributes = Object.defineProperty({}, 'gen_ai.request.model', {
    enumerable: true,
    get: () => {
      throw new Error('no attribute for you')
    },
  })
  const outline = deriveOutline(
    spanWith({ name: 'odd', attributes }),
    createPricer({ overrides: [] }),
    failures,
  )

  expect(outline).toMatchObject({ name: 'odd', kind: 'other' })
  expect(Object.fromEntries(failures.counts)).toEqual({ generic: 1 })
  expect(renderMetrics(createCounters(), gauges, failures.counts)).toContain(
    'playhead_dialect_failures_total{dialect="generic"} 1\n',
  )
})

const gauges = {
  servers: 1,
  isLeader: 1,
  pendingRows: 0,
  rowsWithoutWords: 0,
  pendingBytes: 0,
  pendingSegments: 0,
  flushFailures: 0,
  engineRestarts: 0,
  damagedFiles: 0,
  damagedRows: 0,
  badRows: 0,
  liveViewers: 0,
  bytesInFlight: 0,
  residentBytes: 0,
}
