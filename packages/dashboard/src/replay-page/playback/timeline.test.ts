import { expect, test } from 'vitest'
import type { Step } from '@playhead/model'
import { makeTimeline } from '../../../test/make-session.ts'
import { ancestorsOf, positionAt } from './timeline.ts'

test('steps are indexed by time and by tree', () => {
  const timeline = makeTimeline([
    { id: 'root', kind: 'agent', offsetMs: 0, durationMs: 100 },
    { id: 'a', parentId: 'root', offsetMs: 0, durationMs: 30 },
    { id: 'b', parentId: 'root', offsetMs: 40, durationMs: 50 },
    { id: 'c', parentId: 'b', offsetMs: 50, durationMs: 10 },
  ])
  expect([-1, 0, 39, 40, 45, 1000].map((timeMs) => positionAt(timeline, timeMs))).toEqual([-1, 1, 1, 2, 2, 3])
  expect(ancestorsOf(timeline, 3)).toEqual([0, 2])
  expect([...timeline.depths]).toEqual([0, 1, 1, 2])
  expect([...timeline.treeSizes]).toEqual([4, 1, 2, 1])
  expect(timeline.durationMs).toBe(100)
})

test('tree order differs from start order when branches run in parallel', () => {
  const timeline = makeTimeline([
    { id: 'left', offsetMs: 0, durationMs: 100 },
    { id: 'right', offsetMs: 5, durationMs: 100 },
    { id: 'in left', parentId: 'left', offsetMs: 10 },
    { id: 'in right', parentId: 'right', offsetMs: 15 },
  ])
  expect([...timeline.treeOrder].map((position) => timeline.steps[position]!.id)).toEqual([
    'left',
    'in left',
    'right',
    'in right',
  ])
})

test('steps recorded out of order are sorted', () => {
  const timeline = makeTimeline([
    { id: 'late', offsetMs: 50 },
    { id: 'early', offsetMs: -3 },
  ])
  expect(timeline.steps.map(({ id }) => id)).toEqual(['early', 'late'])
  expect([...timeline.startsMs]).toEqual([0, 50])
})

test('a step that never ended has no end, and a cycle of parents is broken', () => {
  const timeline = makeTimeline([
    { id: 'a', parentId: 'b', offsetMs: 0, durationMs: null },
    { id: 'b', parentId: 'a', offsetMs: 1 },
  ])
  expect(timeline.endsMs[0]).toBe(Infinity)
  expect(timeline.treeOrder.length).toBe(2)
})

test('an error has one owner', () => {
  const error = { type: 'E', message: 'x' }
  const timeline = makeTimeline([
    { id: 'root', status: 'error', error: { ...error, isPropagated: true } },
    { id: 'owner', parentId: 'root', offsetMs: 1, status: 'error', error },
    { id: 'soft', parentId: 'root', offsetMs: 2, status: 'soft-error', error },
  ])
  expect(timeline.errors).toEqual([1, 2])
})

test('a chain of a hundred thousand steps is indexed', () => {
  const timeline = makeTimeline(
    Array.from({ length: 100_000 }, (_, index) => ({
      id: String(index),
      parentId: index === 0 ? null : String(index - 1),
      offsetMs: index,
    })),
  )
  expect(timeline.treeSizes[0]).toBe(100_000)
  expect(timeline.depths[99_999]).toBe(65_535)
})

test('the tape of a re-run ends after its last answer, unless it answers again later', () => {
  const sources = (...given: (Step['source'] | undefined)[]) =>
    makeTimeline(
      given.map((source, index) => ({
        id: `${index}`,
        offsetMs: index,
        ...(source !== undefined && { source }),
      })),
    ).tapeEnd

  expect(sources(undefined, 'tape', undefined, 'tape', 'stub', 'live')).toBe(4)
  expect(sources('tape', 'live', 'tape')).toBe(undefined)
  expect(sources('tape', 'tape')).toBe(undefined)
  expect(sources('live', 'stub')).toBe(undefined)
})
