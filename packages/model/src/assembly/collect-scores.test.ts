import { expect, test } from 'vitest'
import { spanToStep } from '../dialects/drafts/span-to-step.ts'
import { emptyAttributes, type Span } from '../otlp/span.ts'
import { countingScores } from '../session/score.ts'
import { assembleSession } from './assemble-session.ts'
import { collectScores } from './collect-scores.ts'

const TRACE = 'a'.repeat(32)
const MS = 1_000_000n

function span(id: string, more: Partial<Span>): Span {
  return {
    traceId: TRACE,
    spanId: id.padStart(16, '0'),
    parentSpanId: null,
    isParentRemote: false,
    name: 'work',
    kind: 1,
    startNs: 1_000n * MS,
    endNs: 2_000n * MS,
    statusCode: 0,
    statusMessage: '',
    attributes: emptyAttributes(),
    events: [],
    links: [],
    resource: emptyAttributes(),
    scope: { name: '', version: '' },
    ...more,
  }
}

const evaluation = (name: string, value: unknown, more: object = {}) =>
  Object.assign(emptyAttributes(), {
    'gen_ai.evaluation.name': name,
    ...(typeof value === 'string'
      ? { 'gen_ai.evaluation.score.label': value }
      : { 'gen_ai.evaluation.score.value': value }),
    ...more,
  })

const outlinesOf = (...spans: Span[]) => spans.map((one) => spanToStep(one).outline)

test('an evaluator that is a step scores its parent, and stays a step', () => {
  const judge = span('2', { parentSpanId: '1'.padStart(16, '0'), attributes: evaluation('tone', 4) })
  const root = span('9', {})
  const { steps, scores } = assembleSession({
    outlines: outlinesOf(root, span('1', { parentSpanId: root.spanId }), judge),
    nowMs: 3_000,
    lastHeardAtMs: 3_000,
  })
  expect(steps).toHaveLength(3)
  expect(scores).toMatchObject([{ name: 'tone', value: 4, stepId: '1'.padStart(16, '0') }])
})

test('a span that is nothing but a score is no step, wherever it came from', () => {
  const late = span('3', {
    name: 'gen_ai.evaluation.result',
    startNs: 90_000_000n * MS,
    endNs: 90_000_000n * MS,
    attributes: evaluation('helpful', 1, { 'gen_ai.evaluation.score.label': 'true' }),
  })
  const { session, steps, scores } = assembleSession({
    outlines: outlinesOf(late, span('1', {})),
    nowMs: 3_000,
    lastHeardAtMs: 3_000,
  })
  expect(steps.map(({ id }) => id)).toEqual(['1'.padStart(16, '0')])
  expect(session.durationMs).toBe(1_000)
  expect(scores).toMatchObject([{ name: 'helpful', value: true, source: 'code' }])
})

test('the order of arrival never matters, and a failed judge gives no score', () => {
  const result = (id: string, atMs: number, value: unknown, more: object = {}) =>
    span(id, {
      name: 'gen_ai.evaluation.result',
      startNs: BigInt(atMs) * MS,
      endNs: BigInt(atMs) * MS,
      attributes: evaluation('tone', value, { 'playhead.score.source': 'model', ...more }),
    })
  const spans = [
    span('1', {}),
    result('2', 5_000, 'rude'),
    result('3', 4_000, 'kind'),
    result('4', 6_000, 'flat', { 'playhead.score.step': 'f'.repeat(16) }),
    span('5', {
      name: 'gen_ai.evaluation.result',
      attributes: Object.assign(emptyAttributes(), { 'gen_ai.evaluation.name': 'tone' }),
    }),
  ]
  const scores = collectScores(outlinesOf(...spans))
  expect(scores.map(({ value }) => value)).toEqual(['flat', 'rude', 'kind'])
  expect(collectScores(outlinesOf(...spans.toReversed()))).toEqual(scores)
  expect(countingScores(scores).map(({ value, source }) => [value, source])).toEqual([['rude', 'model']])
})
