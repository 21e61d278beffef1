import { expect, test } from 'vitest'
import { comparisonRemarks, comparisonTable } from '../harness/report.ts'
import { compare, type Outcome } from './compare.ts'

const playhead: Outcome = {
  name: 'Playhead',
  acknowledgement: 'synced to disk',
  version: '1.0.0',
  measures: {
    'list 50, p50': { figure: 20, unit: 'ms' },
    'list 50 with a word, p50': { figure: 40, unit: 'ms' },
    'list 50 with a word, p95': { figure: 60, unit: 'ms' },
    'acknowledged spans lost by kill -9': { figure: 0, unit: 'spans' },
  },
}
const peer: Outcome = {
  name: 'Peer',
  acknowledgement: 'put in a queue',
  version: '2.1.0',
  measures: {
    'list 50, p50': { figure: 50, unit: 'ms' },
    'list 50 with a word, p50': { none: 'it has no text search' },
    'list 50 with a word, p95': { none: 'it has no text search' },
    'acknowledged spans lost by kill -9': { figure: 1_200, unit: 'spans' },
  },
}
const absent: Outcome = { name: 'Absent', acknowledgement: 'written', missing: 'no absentd on the PATH' }

test('shows figures side by side with their ratio to the first contender', () => {
  expect(comparisonTable(compare([playhead, peer]))).toEqual([
    ['Metric', 'Playhead 1.0.0', 'Peer 2.1.0'],
    ['list 50, p50', '20 ms', '50 ms (2.50×)'],
    ['list 50 with a word, p50', '40 ms', 'not supported'],
    ['list 50 with a word, p95', '60 ms', 'not supported'],
    ['acknowledged spans lost by kill -9', '0 spans', '1,200 spans'],
  ])
})

test('reports a missing peer as missing, never as zero', () => {
  const comparison = compare([playhead, absent])
  expect(comparisonTable(comparison).map((cells) => cells[2])).toEqual([
    'Absent',
    'missing',
    'missing',
    'missing',
    'missing',
  ])
  expect(comparisonRemarks(comparison)).toEqual([
    '- Playhead acknowledges a span once it is synced to disk.',
    '- Absent is missing: no absentd on the PATH.',
  ])
})

test('names an unsupported query once, with the reason', () => {
  expect(comparisonRemarks(compare([playhead, peer])).at(-1)).toBe(
    '- Peer does not support: list 50 with a word. Reason: it has no text search.',
  )
})

test('a metric of only one peer has a row, without figures for the others', () => {
  const other: Outcome = { ...peer, measures: { 'requests refused': { figure: 3, unit: 'requests' } } }
  expect(compare([playhead, other]).rows.at(-1)).toEqual({
    what: 'requests refused',
    unit: 'requests',
    cells: [{ none: 'not measured' }, { figure: 3 }],
  })
})
