import type { SessionSummary } from '@playhead/model'
import parsePrometheusTextFormat from 'parse-prometheus-text-format'
import { expect, test } from 'vitest'
import { OTHER, SessionMetrics } from './session-metrics.ts'

const NOW = Date.parse('2026-11-18T06:00:00Z')

let made = 0
function ended(change: Partial<SessionSummary> = {}): SessionSummary {
  return {
    id: (made += 1).toString(16).padStart(32, '0'),
    name: 'support',
    endState: 'success',
    startedAt: new Date(NOW - 5_000).toISOString(),
    endedAt: new Date(NOW - 1_000).toISOString(),
    durationMs: 4_000,
    tags: [],
    usage: { input: 100, output: 10, cacheRead: 7 },
    cost: 0.25,
    unpricedModels: [],
    stepCount: 1,
    llmCallCount: 1,
    actionCount: 0,
    errorCount: 0,
    models: [],
    agents: [],
    tools: [],
    demo: false,
    ...change,
  }
}

type Sample = { value: string; labels?: Record<string, string> }
const everything = () => true
const parse = (metrics: SessionMetrics, mayRead: (project: string) => boolean = everything) =>
  parsePrometheusTextFormat(`${metrics.render(mayRead).join('\n')}\n`)
const samplesOf = (metrics: SessionMetrics, name: string) =>
  (parse(metrics).find((family) => family.name === `playhead_${name}`)?.metrics ?? []) as Sample[]

test('sessions are counted once, with cost, tokens and a histogram that a parser reads', () => {
  const metrics = new SessionMetrics()
  const first = ended()
  metrics.count(
    'default',
    [first, ended({ endState: 'fail', durationMs: 700, cost: null, unpricedModels: ['x'] })],
    NOW,
  )
  // Late spans, sessions of last week and sessions that run.
  const old = { startedAt: '2026-11-10T06:00:00Z', endedAt: '2026-11-10T06:00:01Z' }
  metrics.count('default', [first, ended(old), ended({ endState: 'running', endedAt: null })], NOW)
  const labels = { project: 'default', name: 'support' }
  expect(samplesOf(metrics, 'sessions_total')).toEqual([
    { value: '1', labels: { ...labels, end_state: 'success' } },
    { value: '1', labels: { ...labels, end_state: 'fail' } },
  ])
  expect(samplesOf(metrics, 'session_cost_dollars_total')).toEqual([{ value: '0.25', labels }])
  expect(samplesOf(metrics, 'sessions_unpriced_total')).toEqual([{ value: '1', labels }])
  expect(
    samplesOf(metrics, 'session_tokens_total').map(({ value, labels: { kind } = {} }) => `${kind} ${value}`),
  ).toEqual(['input 200', 'output 20', 'cache_read 14'])
  // The parser drops the labels of a histogram.
  expect(parse(metrics).find(({ type }) => type === 'HISTOGRAM')).toMatchObject({
    name: 'playhead_session_duration_seconds',
    metrics: [{ buckets: { '0.5': '0', '1': '1', '2.5': '1', '5': '2', '+Inf': '2' } }],
  })
  const series = '{project="default",name="support"}'
  expect(metrics.render(everything)).toEqual(
    expect.arrayContaining([
      'playhead_session_duration_seconds_bucket{project="default",name="support",le="2.5"} 1',
      `playhead_session_duration_seconds_sum${series} 4.7`,
      `playhead_session_duration_seconds_count${series} 2`,
    ]),
  )
})

test('10,000 names in 500 projects are a bounded number of series, and nothing is lost', () => {
  const metrics = new SessionMetrics()
  for (let index = 0; index < 10_000; index += 1)
    metrics.count(`p${index % 500}`, [ended({ name: `agent ${index}` })], NOW)
  const lines = metrics.render(everything).filter((line) => !line.startsWith('#'))
  expect(lines.length).toBeLessThan(6_000)
  const samples = samplesOf(metrics, 'sessions_total')
  expect(samples.reduce((sum, { value }) => sum + Number(value), 0)).toBe(10_000)
  expect(samples.some(({ labels: { name } = {} }) => name === OTHER)).toBe(true)
  expect(new Set(samples.map(({ labels: { project } = {} }) => project)).size).toBeLessThanOrEqual(51)
})

test('names are escaped, and a project that the caller may not read is left out', () => {
  const metrics = new SessionMetrics()
  const name = 'a "quoted" \\ name\nwith lines {x="y"} 1'
  metrics.count('open', [ended({ name })], NOW)
  metrics.count('closed', [ended()], NOW)
  const families = parse(metrics, (project) => project === 'open')
  const labels = families.flatMap((family) =>
    (family.metrics as Sample[]).flatMap(({ labels = {} }) => (labels.project === undefined ? [] : [labels])),
  )
  expect(new Set(labels.map(({ project }) => project))).toEqual(new Set(['open']))
  expect(labels[0]!.name).toBe(name)
})
