import { expect, test } from 'vitest'
import { Player, type PlayerStart } from './player.ts'
import { makeTimeline } from '../../../test/make-session.ts'
import type { Timeline } from './timeline.ts'

const error = { type: 'E', message: 'x' }
const timeline = makeTimeline(
  [
    { id: 'root', kind: 'agent', offsetMs: 0, durationMs: 1000 },
    { id: 'a', parentId: 'root', offsetMs: 0, durationMs: 300 },
    { id: 'b', parentId: 'root', offsetMs: 400, durationMs: 100, status: 'error', error },
    { id: 'c', parentId: 'root', offsetMs: 600, durationMs: 100, status: 'error', error },
  ],
  { durationMs: 1000 },
)

/** A player whose clock the test holds. */
function hold(of: Timeline = timeline, start?: PlayerStart) {
  let nowMs = 0
  let frame: (() => void) | undefined
  const clock = {
    nowMs: () => nowMs,
    requestFrame: (onFrame: () => void) => {
      frame = onFrame
      return () => (frame = undefined)
    },
  }
  const player = new Player(of, clock, start)
  const pass = (milliseconds: number, frames = 10) => {
    for (let count = 0; count < frames; count += 1) {
      nowMs += milliseconds / frames
      const due = frame
      frame = undefined
      due?.()
    }
  }
  return { player, pass, isWaiting: () => frame !== undefined }
}

test('plays in session time and stops at the end', () => {
  const { player, pass, isWaiting } = hold()
  player.toggle()
  pass(450)
  expect(player.getState()).toMatchObject({ motion: 'playing', stepId: 'b' })
  expect(player.getState().positionMs).toBeCloseTo(450)
  pass(600)
  expect(player.getState()).toMatchObject({ motion: 'paused', positionMs: 1000, stepId: 'c' })
  expect(isWaiting()).toBe(false)
})

test('starts over when played at the end', () => {
  const { player } = hold(timeline, { positionMs: 1000 })
  player.play()
  expect(player.getState()).toMatchObject({ positionMs: 0, motion: 'playing' })
})

test('goes faster when played again, and plays backwards', () => {
  const { player, pass } = hold(timeline, { positionMs: 600 })
  player.play()
  player.play()
  expect(player.getState().speed).toBe(2)
  player.setSpeed(1)
  player.play(true)
  pass(200)
  expect(player.getState().positionMs).toBeCloseTo(400)
  pass(600)
  expect(player.getState()).toMatchObject({ motion: 'paused', positionMs: 0 })
})

test('visits steps in start order, even those that start together', () => {
  const { player } = hold()
  const walked: (string | undefined)[] = [player.getState().stepId]
  for (let count = 0; count < 4; count += 1) {
    player.stepBy(1)
    walked.push(player.getState().stepId)
  }
  expect(walked).toEqual(['root', 'a', 'b', 'c', 'c'])
  player.stepBy(-1)
  expect(player.getState()).toMatchObject({ stepId: 'b', positionMs: 400, motion: 'paused' })
})

test('visits errors in turn and wraps around', () => {
  const { player } = hold()
  const visit = (count: 1 | -1) => {
    player.jumpToError(count)
    return player.getState().stepId
  }
  expect([visit(1), visit(1), visit(1), visit(-1)]).toEqual(['b', 'c', 'b', 'c'])
})

test('seeking selects the step under the playhead and stays inside the session', () => {
  const { player } = hold()
  player.seek(450, { isScrubbing: true })
  expect(player.getState()).toMatchObject({ stepId: 'b', motion: 'scrubbing' })
  player.endScrub()
  expect(player.getState().motion).toBe('paused')
  player.seek(99_999)
  expect(player.getState().positionMs).toBe(1000)
})

test('a jump out of the view moves the view', () => {
  const { player } = hold()
  player.setView({ startMs: 0, endMs: 200 })
  player.select('c')
  expect(player.getState().view).toEqual({ startMs: 500, endMs: 700 })
})

test('loops inside the view', () => {
  const { player, pass } = hold(timeline, { positionMs: 100 })
  player.setView({ startMs: 100, endMs: 300 })
  player.play()
  pass(350)
  expect(player.getState().positionMs).toBeCloseTo(250)
  expect(player.getState().motion).toBe('playing')
})

test('follows a running session until the playhead is moved', () => {
  const running = makeTimeline([{ id: 'a', durationMs: null }], { endState: 'running' })
  const more = makeTimeline(
    [
      { id: 'a', durationMs: 90 },
      { id: 'b', offsetMs: 100, durationMs: null },
    ],
    {
      endState: 'running',
    },
  )
  const { player } = hold(running, { isFollowing: true })
  player.setTimeline({ ...more, durationMs: 500 })
  expect(player.getState()).toMatchObject({ motion: 'following', positionMs: 500, stepId: 'b' })
  player.select('a')
  player.setTimeline({ ...more, durationMs: 900 })
  expect(player.getState()).toMatchObject({ motion: 'paused', positionMs: 0, stepId: 'a' })
  player.follow()
  expect(player.getState()).toMatchObject({ motion: 'following', positionMs: 900 })
})

test('listeners are notified until they unsubscribe', () => {
  const { player } = hold()
  let heard = 0
  const leave = player.subscribe(() => (heard += 1))
  player.seek(10)
  leave()
  player.seek(20)
  expect(heard).toBe(1)
})
