import { findMissingCosts } from '@playhead/model'
import { expect, test } from 'vitest'
import { contextWindowOf } from './context-window.ts'
import { contextAt, findLlmCalls, phaseOf, runningPath } from './playhead-state.ts'
import { findFailure } from './failures.ts'
import { openingState } from './use-player.ts'
import { findNotices } from '../header/notice-bar.tsx'
import { countArrived, splitStream } from '../conversation/streamed-answer.tsx'
import { makeStep, makeTimeline } from '../../../test/make-session.ts'

const timeline = makeTimeline([
  { id: 'root', kind: 'agent', durationMs: 1000 },
  {
    id: 'llm',
    parentId: 'root',
    kind: 'llm',
    durationMs: 300,
    model: 'gpt-4o-2024-08-06',
    usage: { input: 1280 },
  },
  { id: 'slow', parentId: 'root', offsetMs: 310, durationMs: 400 },
  { id: 'quick', parentId: 'root', offsetMs: 320, durationMs: 5 },
])

test('a step is ahead, then running, then done; a playhead at rest hides nothing', () => {
  const step = { startMs: 100, endMs: 200 }
  expect([50, 100, 150, 200].map((timeMs) => phaseOf(step, timeMs, false))).toEqual([
    'ahead',
    'running',
    'running',
    'done',
  ])
  expect(phaseOf(step, 0, true)).toBe('done')
})

test('running steps are listed outermost first, parallel branches included', () => {
  const names = (timeMs: number) =>
    runningPath(timeline, timeMs).map((position) => timeline.steps[position]!.id)
  expect(names(100)).toEqual(['root', 'llm'])
  expect(names(305)).toEqual(['root'])
  expect(names(400)).toEqual(['root', 'slow'])
  expect(names(2000)).toEqual([])
})

test('context use is that of the last call, and unknown models have none', () => {
  expect(contextAt(timeline, findLlmCalls(timeline), 500)).toEqual({
    tokens: 1280,
    windowTokens: 128_000,
    model: 'gpt-4o-2024-08-06',
  })
  expect(contextWindowOf('us.anthropic.claude-sonnet-4-5-20250929-v1:0')).toBe(200_000)
  expect(contextWindowOf('openai/gpt-4.1-mini')).toBe(1_047_576)
  expect(contextWindowOf('acme-house-model')).toBeUndefined()
})

test('streamed text is split at the playhead', () => {
  const step = makeStep({
    id: 's',
    offsetMs: 100,
    streaming: {
      chunks: [
        [10, 'Hel'],
        [30, 'lo '],
        [60, 'you'],
      ],
    },
  })
  expect([100, 110, 140, 900].map((timeMs) => countArrived(step, timeMs))).toEqual([0, 1, 2, 3])
  expect(splitStream(step, 2)).toEqual({ arrived: 'Hello ', ahead: 'you' })
  expect(countArrived(makeStep({ id: 'x' }), 5)).toBeUndefined()
})

const error = { type: 'E', message: 'x' }
const failing = makeTimeline(
  [
    { id: 'root', kind: 'agent', durationMs: 500, status: 'error', error: { ...error, isPropagated: true } },
    { id: 'retried', parentId: 'root', offsetMs: 10, status: 'error', error: { ...error, isHandled: true } },
    { id: 'fatal', parentId: 'root', offsetMs: 200, status: 'error', error },
    { id: 'after', parentId: 'root', offsetMs: 300 },
  ],
  { endState: 'fail' },
)

test('the page opens on the step whose error was not handled', () => {
  expect(openingState(failing, {})).toEqual({ stepId: 'fatal', positionMs: 200 })
  expect(findFailure({ ...failing, session: { ...failing.session, endState: 'success' } })).toBeUndefined()
})

test('a link wins over the failure, and a link to an unknown step is ignored', () => {
  expect(openingState(failing, { step: 'after' })).toEqual({ stepId: 'after', positionMs: 300 })
  expect(openingState(failing, { step: 'after', t: 305 })).toEqual({ stepId: 'after', positionMs: 305 })
  expect(openingState(failing, { t: 15 })).toEqual({ stepId: 'retried', positionMs: 15 })
  expect(openingState(failing, { step: 'gone' })).toEqual({ stepId: 'fatal', positionMs: 200 })
})

test('a running session opens at its end, a successful one at its start', () => {
  expect(openingState({ ...failing, session: { ...failing.session, endState: 'running' } }, {})).toEqual({
    isFollowing: true,
  })
  expect(openingState(timeline, {})).toEqual({})
})

test('missing data is reported', () => {
  const lost = makeTimeline(
    [
      { id: 'a', isOrphan: true, isTruncated: true },
      { id: 'b', offsetMs: 5, durationMs: null },
    ],
    { endState: 'lost', unpricedModels: ['acme'] },
  )
  expect(findNotices(lost, findMissingCosts(lost)).map(({ id, text }) => `${id}: ${text}`)).toEqual([
    'lost: The session never ended. Nothing arrived after 10ms.',
    'open: 1 step never ended.',
    'orphans: 1 step refers to a parent that never arrived.',
    'prices: No price is known for acme, so the cost is incomplete.',
    'cut: Part of the content was truncated before it was sent.',
  ])
  expect(
    findNotices(timeline, { unpricedModels: [], callsWithoutUsage: [], callsWithoutOutput: [] }),
  ).toEqual([])
})
