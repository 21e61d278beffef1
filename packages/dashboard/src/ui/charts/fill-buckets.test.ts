import { expect, test } from 'vitest'
import { fillBuckets, startOf } from './fill-buckets.ts'
import type { StatsBucket, StatsInterval } from '@playhead/model'

const bucket = (timeMs: number) => ({ at: new Date(timeMs).toISOString(), total: 1 }) as StatsBucket
const at = (text: string) => new Date(text).getTime()

test('adds buckets without sessions', () => {
  const first = at('2026-03-01T10:00:00')
  const last = at('2026-03-01T13:00:00')

  const filled = fillBuckets([bucket(first), bucket(last)], 'hour', {
    fromMs: first,
    toMs: at('2026-03-01T14:20:00'),
  })

  expect(filled.map(({ figures }) => figures?.total ?? 0)).toEqual([1, 0, 0, 1, 0])
  expect(filled[0]).toMatchObject({ startMs: first, endMs: at('2026-03-01T11:00:00') })
})

test('all time starts some buckets before the first session', () => {
  const first = at('2026-01-05T00:00:00')
  const filled = fillBuckets([bucket(first)], 'week', {
    fromMs: undefined,
    toMs: at('2026-01-20T09:00:00'),
  })
  expect(filled).toHaveLength(24)
  expect(filled.slice(-4).map(({ startMs }) => startMs)).toEqual([
    at('2025-12-29T00:00:00'),
    first,
    at('2026-01-12T00:00:00'),
    at('2026-01-19T00:00:00'),
  ])
  expect(filled.flatMap(({ figures }) => figures?.total ?? [])).toEqual([1])
  expect(fillBuckets([], 'day', { fromMs: undefined, toMs: first })).toEqual([])
})

test('a clock that is a century off does not make a million buckets', () => {
  const filled = fillBuckets([bucket(0)], 'minute', { fromMs: undefined, toMs: at('2026-01-01T00:00:00') })
  expect(filled.length).toBe(400)
})

test.each<[StatsInterval, string]>([
  ['minute', '2026-05-14T15:38:00'],
  ['5-minutes', '2026-05-14T15:35:00'],
  ['15-minutes', '2026-05-14T15:30:00'],
  ['hour', '2026-05-14T15:00:00'],
  ['6-hours', '2026-05-14T12:00:00'],
  ['day', '2026-05-14T00:00:00'],
  ['week', '2026-05-11T00:00:00'],
  ['month', '2026-05-01T00:00:00'],
])('%s begins', (interval, expected) => {
  expect(startOf(interval, at('2026-05-14T15:38:27'))).toBe(at(expected))
})
