import { expect, test } from 'vitest'
import { fasterThan, movePlayhead } from './playhead-clock.ts'
import { createTimeAxis, GAP_SHOWN_MS } from './time-axis.ts'

const axis = createTimeAxis(4200)

test('at 1× a session of 4.2 seconds takes 4.2 seconds, whatever the frames', () => {
  let positionMs = 0
  let elapsedMs = 0
  let frames = 0
  for (let hasArrived = false; !hasArrived; frames += 1) {
    const frameMs = [16.7, 33.4, 8.3, 250][frames % 4]!
    ;({ positionMs, hasArrived } = movePlayhead(positionMs, frameMs, { axis, rate: 1, loop: null }))
    elapsedMs += frameMs
    if (!hasArrived) expect(positionMs).toBeCloseTo(elapsedMs, 6)
  }
  expect(positionMs).toBe(4200)
  expect(elapsedMs).toBeGreaterThanOrEqual(4200)
  expect(elapsedMs).toBeLessThan(4200 + 251)
})

test('speed stretches time, and backwards ends at the start', () => {
  expect(movePlayhead(0, 100, { axis, rate: 10, loop: null })).toEqual({
    positionMs: 1000,
    hasArrived: false,
  })
  expect(movePlayhead(0, 1000, { axis, rate: 0.5, loop: null }).positionMs).toBe(500)
  expect(movePlayhead(300, 500, { axis, rate: -1, loop: null })).toEqual({ positionMs: 0, hasArrived: true })
})

test('inside a chosen part it starts over at the end of the part', () => {
  const loop = { startMs: 1000, endMs: 2000 }
  expect(movePlayhead(1900, 300, { axis, rate: 1, loop })).toEqual({ positionMs: 1200, hasArrived: false })
  expect(movePlayhead(1100, 300, { axis, rate: -1, loop })).toEqual({ positionMs: 1800, hasArrived: false })
  expect(movePlayhead(3500, 0, { axis, rate: 1, loop }).positionMs).toBe(1500)
})

test('a skipped gap of an hour passes in the time that a gap is shown for', () => {
  const withGap = createTimeAxis(3_602_000, [{ startMs: 1000, endMs: 3_601_000 }])
  const motion = { axis: withGap, rate: 1, loop: null }
  expect(movePlayhead(1000, GAP_SHOWN_MS, motion).positionMs).toBeCloseTo(3_601_000)
  expect(movePlayhead(0, 2000 + GAP_SHOWN_MS, motion)).toEqual({ positionMs: 3_602_000, hasArrived: true })
})

test('there is a fastest speed', () => {
  expect([0.5, 1, 2, 5, 10].map((speed) => fasterThan(speed as 1))).toEqual([1, 2, 5, 10, 10])
})
