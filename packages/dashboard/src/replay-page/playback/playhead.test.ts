import { expect, test } from 'vitest'
import { nextSpeed, advancePlayhead } from './playhead.ts'
import { createTimeAxis, GAP_SHOWN_MS } from './time-axis.ts'

const axis = createTimeAxis(4200)

test('at 1× a session of 4.2 seconds takes 4.2 seconds at any frame rate', () => {
  let positionMs = 0
  let elapsedMs = 0
  let frames = 0
  for (let hasArrived = false; !hasArrived; frames += 1) {
    const frameMs = [16.7, 33.4, 8.3, 250][frames % 4]!
    ;({ positionMs, hasArrived } = advancePlayhead(positionMs, frameMs, { axis, rate: 1, loop: null }))
    elapsedMs += frameMs
    if (!hasArrived) expect(positionMs).toBeCloseTo(elapsedMs, 6)
  }
  expect(positionMs).toBe(4200)
  expect(elapsedMs).toBeGreaterThanOrEqual(4200)
  expect(elapsedMs).toBeLessThan(4200 + 251)
})

test('speed scales time, and playing backwards ends at the start', () => {
  expect(advancePlayhead(0, 100, { axis, rate: 10, loop: null })).toEqual({
    positionMs: 1000,
    hasArrived: false,
  })
  expect(advancePlayhead(0, 1000, { axis, rate: 0.5, loop: null }).positionMs).toBe(500)
  expect(advancePlayhead(300, 500, { axis, rate: -1, loop: null })).toEqual({
    positionMs: 0,
    hasArrived: true,
  })
})

test('a selected range loops', () => {
  const loop = { startMs: 1000, endMs: 2000 }
  expect(advancePlayhead(1900, 300, { axis, rate: 1, loop })).toEqual({ positionMs: 1200, hasArrived: false })
  expect(advancePlayhead(1100, 300, { axis, rate: -1, loop })).toEqual({
    positionMs: 1800,
    hasArrived: false,
  })
  expect(advancePlayhead(3500, 0, { axis, rate: 1, loop }).positionMs).toBe(1500)
})

test('a skipped gap of an hour takes as long as any skipped gap', () => {
  const withGap = createTimeAxis(3_602_000, [{ startMs: 1000, endMs: 3_601_000 }])
  const motion = { axis: withGap, rate: 1, loop: null }
  expect(advancePlayhead(1000, GAP_SHOWN_MS, motion).positionMs).toBeCloseTo(3_601_000)
  expect(advancePlayhead(0, 2000 + GAP_SHOWN_MS, motion)).toEqual({ positionMs: 3_602_000, hasArrived: true })
})

test('there is a fastest speed', () => {
  expect([0.5, 1, 2, 5, 10].map((speed) => nextSpeed(speed as 1))).toEqual([1, 2, 5, 10, 10])
})
