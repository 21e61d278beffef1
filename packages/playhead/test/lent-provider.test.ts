import { createRequire } from 'node:module'
import { trace } from '@opentelemetry/api'
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import * as playhead from '../src/index.ts'

beforeAll(async () => {
  playhead.init({ endpoint: false, capture: false })
  await sleep(20)
})

const namesIn = ({ steps }: playhead.SessionView) => steps.map(({ name }) => name)

describe('a program without a tracer provider', () => {
  test('instrumentation that asks OpenTelemetry for a tracer lands in the session', () => {
    const session = playhead.withSession({ name: 'lent' }, (view) => {
      trace
        .getTracer('ai')
        .startSpan('ai.generateText', { attributes: { 'gen_ai.request.model': 'gpt-4o' } })
        .end()
      return view
    })
    expect(namesIn(session)).toEqual(['lent', 'gpt-4o'])
  })

  test('also instrumentation that requires the API instead of importing it', () => {
    const required = createRequire(import.meta.url)('@opentelemetry/api') as { trace: typeof trace }
    const session = playhead.withSession({ name: 'lent' }, (view) => {
      required.trace.getTracer('cjs').startSpan('from CommonJS').end()
      return view
    })
    expect(namesIn(session)).toEqual(['lent', 'from CommonJS'])
  })

  test('spans that belong to no agent are not recorded', () => {
    const { recorded } = playhead.stats()
    trace.getTracer('http').startSpan('GET /').end()
    expect(playhead.stats().recorded).toBe(recorded)
  })
})

test('a provider that the program registers later is not refused, and ours goes on', () => {
  const exporter = new InMemorySpanExporter()
  const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] })
  expect(trace.setGlobalTracerProvider(provider)).toBe(true)
  const session = playhead.withSession({ name: 'ours' }, (view) => {
    trace.getTracer('theirs').startSpan('their span').end()
    playhead.recordAction('act', () => 1)()
    return view
  })
  expect(exporter.getFinishedSpans().map(({ name }) => name)).toEqual(['their span'])
  expect(namesIn(session)).toEqual(['ours', 'act'])

  const outer = playhead.recordAction('outer', () =>
    trace.getTracer('theirs').startActiveSpan('between', (span) => {
      playhead.recordAction('inner', () => 1)()
      span.end()
    }),
  )
  const [, around, inside] = playhead.withSession((view) => {
    outer()
    return view
  }).steps
  expect([around!.name, inside!.name, inside!.parentId]).toEqual(['outer', 'inner', around!.id])
})
