import { expect, test } from 'vitest'
import { createLanes } from './lanes.ts'
import { findCostLine, findErrorMarks, findMarks } from './marks.ts'
import { createRunningTotals, spentAt } from '../playback/running-totals.ts'
import { makeTimeline } from '../../../test/make-session.ts'
import { createTimeAxis } from '../playback/time-axis.ts'
import { createTimeScale } from '../playback/time-scale.ts'
import type { Timeline } from '../playback/timeline.ts'

function scaleOf(timeline: Timeline, widthPx = 1000) {
  return createTimeScale(
    createTimeAxis(timeline.durationMs),
    { startMs: 0, endMs: timeline.durationMs },
    widthPx,
  )
}

test('there is a lane for each agent and for each group of kinds', () => {
  const timeline = makeTimeline([
    { id: 'a', kind: 'agent', agent: 'planner', durationMs: 100 },
    { id: 'b', kind: 'agent', agent: 'writer', offsetMs: 10, durationMs: 50 },
    { id: 'c', kind: 'llm', offsetMs: 10 },
    { id: 'd', kind: 'embedding', offsetMs: 30 },
    { id: 'e', kind: 'retrieval', offsetMs: 40 },
  ])
  expect(
    createLanes(timeline).map(({ label, isContainer, rowCount }) => [label, isContainer, rowCount]),
  ).toEqual([
    ['planner', true, 1],
    ['writer', true, 1],
    ['LLM', false, 1],
    ['Other', false, 1],
  ])
})

test('many agents share the last lane', () => {
  const timeline = makeTimeline(
    Array.from({ length: 9 }, (_, index) => ({
      id: `agent ${index}`,
      kind: 'agent' as const,
      offsetMs: index,
    })),
  )
  expect(createLanes(timeline).map(({ label }) => label)).toEqual([
    'agent 0',
    'agent 1',
    'agent 2',
    'agent 3',
    '5 more agents',
  ])
})

test('steps that run in parallel get rows of their own', () => {
  const timeline = makeTimeline([
    { id: 'a', offsetMs: 0, durationMs: 50 },
    { id: 'b', offsetMs: 10, durationMs: 20 },
    { id: 'c', offsetMs: 30, durationMs: 20 },
  ])
  const [lane] = createLanes(timeline)
  expect([...lane!.rows]).toEqual([0, 1, 1])
})

test('a hundred thousand steps produce no more marks than pixels', () => {
  const timeline = makeTimeline(
    Array.from({ length: 100_000 }, (_, index) => ({
      id: String(index),
      offsetMs: index * 20,
      durationMs: 15,
    })),
  )
  const marks = findMarks(createLanes(timeline)[0]!, timeline, scaleOf(timeline))
  expect(marks.length).toBeLessThanOrEqual(500)
  expect(marks.every(({ busy }) => busy > 0.7 && busy <= 1)).toBe(true)
})

test('an error is on top and visible, however short', () => {
  const timeline = makeTimeline([
    { id: 'a', offsetMs: 0, durationMs: 10_000 },
    { id: 'b', offsetMs: 5000, durationMs: 1, status: 'error', error: { type: 'E', message: '' } },
  ])
  const marks = findMarks(createLanes(timeline)[0]!, timeline, scaleOf(timeline))
  expect(marks.at(-1)).toMatchObject({ colour: 'error', width: 3 })
})

const parallelFailures = makeTimeline([
  { id: 'agent', kind: 'agent', durationMs: 10_000 },
  ...Array.from({ length: 5 }, (_, index) => ({
    id: `tool ${index}`,
    parentId: 'agent',
    offsetMs: 4_000,
    durationMs: 30,
    status: 'error' as const,
    error: { type: 'TimeoutError', message: 'too slow' },
  })),
  {
    id: 'later',
    parentId: 'agent',
    offsetMs: 6_000,
    status: 'error' as const,
    error: { type: 'E', message: '' },
  },
])

test('steps that fail at the same moment have a mark each', () => {
  const lane = createLanes(parallelFailures).find(({ id }) => id === 'actions')!
  const marks = findMarks(lane, parallelFailures, scaleOf(parallelFailures))
  expect(marks.map(({ x, row, colour }) => [x, row, colour])).toEqual([
    [400, 0, 'error'],
    [400, 1, 'error'],
    [400, 2, 'error'],
    [400, 3, 'error'],
    [400, 4, 'error'],
    [600, 0, 'error'],
  ])
})

test('errors that are too close to click share a mark that has them all', () => {
  expect(findErrorMarks(parallelFailures, scaleOf(parallelFailures))).toEqual([
    { x: 400, positions: [1, 2, 3, 4, 5] },
    { x: 600, positions: [6] },
  ])
})

test('each call is counted once, in the order the calls ended', () => {
  const timeline = makeTimeline([
    {
      id: 'sum',
      kind: 'agent',
      durationMs: 100,
      usage: { input: 30, output: 3 },
      usageScope: 'rollup',
      cost: 3,
    },
    { id: 'slow', kind: 'llm', durationMs: 90, usage: { input: 20, output: 2 }, usageScope: 'call', cost: 2 },
    { id: 'fast', kind: 'llm', offsetMs: 10, usage: { input: 10, output: 1 }, usageScope: 'call', cost: 1 },
    { id: 'odd', kind: 'llm', offsetMs: 95, durationMs: 1, usage: { input: 1 }, usageScope: 'call' },
  ])
  const totals = createRunningTotals(timeline)
  expect(spentAt(totals, 10)).toEqual({
    inputTokens: undefined,
    outputTokens: undefined,
    cost: undefined,
    isCostIncomplete: false,
  })
  expect(spentAt(totals, 20)).toMatchObject({ inputTokens: 10, cost: 1 })
  expect(spentAt(totals, 90)).toMatchObject({ inputTokens: 30, outputTokens: 3, cost: 3 })
  expect(spentAt(totals, 100)).toMatchObject({ inputTokens: 31, cost: 3, isCostIncomplete: true })
  expect(
    findCostLine(totals, scaleOf(timeline, 100)).map(([x, share]) => [Math.round(x), share.toFixed(2)]),
  ).toEqual([
    [0, '0.00'],
    [20, '0.00'],
    [20, '0.33'],
    [90, '0.33'],
    [90, '1.00'],
    [96, '1.00'],
    [96, '1.00'],
    [100, '1.00'],
  ])
})

test('what the tape answered is marked, and does not merge with what ran', () => {
  const timeline = makeTimeline(
    [
      { id: 'a', offsetMs: 0, durationMs: 400, source: 'tape' },
      { id: 'b', offsetMs: 500, durationMs: 0, source: 'tape' },
      { id: 'c', offsetMs: 500.1, durationMs: 0, source: 'live' },
    ],
    { durationMs: 1000 },
  )
  const [lane] = createLanes(timeline)
  expect(findMarks(lane!, timeline, scaleOf(timeline)).map(({ x, isTaped }) => [x, isTaped])).toEqual([
    [0, true],
    [500, true],
    [500, undefined],
  ])
})
