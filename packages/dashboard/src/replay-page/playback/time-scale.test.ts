import { expect, test } from 'vitest'
import { findIdleGaps, isMostlyIdle, createTimeAxis, GAP_SHOWN_MS } from './time-axis.ts'
import { makeTimeline } from '../../../test/make-session.ts'
import { createTimeScale, findTicks, formatTick, panView, zoomView } from './time-scale.ts'

const whole = { startMs: 0, endMs: 4200 }

test('times convert to pixels and back', () => {
  const scale = createTimeScale(createTimeAxis(4200), whole, 1000)
  expect(scale.toX(2100)).toBe(500)
  expect(scale.toTime(250)).toBe(1050)
})

test('zooming keeps the time under the pointer in place', () => {
  const scale = createTimeScale(createTimeAxis(4200), whole, 1000)
  const view = zoomView(scale, 0.5, 250)!
  expect(view).toEqual({ startMs: 525, endMs: 2625 })
  const closer = createTimeScale(createTimeAxis(4200), view, 1000)
  expect(closer.toTime(250)).toBeCloseTo(1050)
  expect(zoomView(closer, 10, 250)).toBeNull()
})

test('a view never moves outside the session', () => {
  const scale = createTimeScale(createTimeAxis(4200), { startMs: 3000, endMs: 4000 }, 1000)
  expect(panView(scale, 900)).toEqual({ startMs: 3200, endMs: 4200 })
  expect(panView(scale, -9000)).toEqual({ startMs: 0, endMs: 1000 })
})

test('a session that lasted an instant has a scale', () => {
  const scale = createTimeScale(createTimeAxis(0), { startMs: 0, endMs: 0 }, 800)
  expect(scale.toX(0)).toBe(0)
  expect(findTicks(scale).map(({ label }) => label)).toEqual(['0'])
})

test('ticks are round and leave room for labels', () => {
  const labels = (durationMs: number, widthPx: number) =>
    findTicks(createTimeScale(createTimeAxis(durationMs), { startMs: 0, endMs: durationMs }, widthPx)).map(
      ({ label }) => label,
    )
  expect(labels(4200, 500)).toEqual(['0', '1s', '2s', '3s', '4s'])
  expect(labels(90, 500)).toEqual(['0', '20ms', '40ms', '60ms', '80ms'])
  expect(labels(3_600_000, 500)).toEqual(['0', '15:00', '30:00', '45:00', '1:00:00'])
  expect(labels(0.4, 500)).toEqual(['0', '0.1ms', '0.2ms', '0.3ms', '0.4ms'])
  expect(formatTick(61_500, 500)).toBe('1:01.5')
})

test('time is idle when only containers run', () => {
  const timeline = makeTimeline(
    [
      { id: 'root', kind: 'agent', offsetMs: 0, durationMs: 60_000 },
      { id: 'a', parentId: 'root', offsetMs: 0, durationMs: 1000 },
      { id: 'b', parentId: 'root', offsetMs: 1500, durationMs: 500 },
      { id: 'c', parentId: 'root', offsetMs: 50_000, durationMs: 9500 },
    ],
    { durationMs: 60_000 },
  )
  expect(findIdleGaps(timeline)).toEqual([{ startMs: 2000, endMs: 50_000 }])
  expect(isMostlyIdle(60_000, findIdleGaps(timeline))).toBe(true)
  expect(isMostlyIdle(4200, [{ startMs: 0, endMs: 4000 }])).toBe(false)
})

test('a skipped gap keeps its ends, and the time around it keeps its length', () => {
  const axis = createTimeAxis(60_000, [{ startMs: 2000, endMs: 50_000 }])
  expect(axis.lengthMs).toBe(12_000 + GAP_SHOWN_MS)
  expect(axis.toAxis(1500)).toBe(1500)
  expect(axis.toAxis(50_000)).toBe(2000 + GAP_SHOWN_MS)
  expect(axis.toAxis(60_000)).toBe(12_000 + GAP_SHOWN_MS)
  for (const timeMs of [0, 1, 2000, 26_000, 50_000, 55_555, 60_000])
    expect(axis.toTime(axis.toAxis(timeMs))).toBeCloseTo(timeMs, 6)
})

test('ticks jump over a skipped gap', () => {
  const axis = createTimeAxis(36_000_000, [{ startMs: 2000, endMs: 35_998_000 }])
  const ticks = findTicks(createTimeScale(axis, { startMs: 0, endMs: 36_000_000 }, 900))
  expect(ticks.length).toBeGreaterThan(3)
  expect(ticks.length).toBeLessThan(12)
})
