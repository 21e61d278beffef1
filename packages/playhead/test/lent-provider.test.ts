import { createRequire } from 'node:module'
import { trace } from '@opentelemetry/api'
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import * as playhead from '../src/index.ts'

beforeAll(async () => {
  playhead.init({ endpoint: false, capture: false })
  // The copy of the API that `require` loads gets the provider in the next turn.
  await nextTurn()
})

const namesIn = ({ steps }: playhead.SessionView) => steps.map(({ name }) => name)

describe('a program without a tracer provider', () => {
  test('spans of third-party instrumentation join the session', () => {
    const session = playhead.withSession({ name: 'lent' }, (view) => {
      trace
        .getTracer('ai')
        .startSpan('ai.generateText', { attributes: { 'gen_ai.request.model': 'gpt-4o' } })
        .end()
      return view
    })
    expect(namesIn(session)).toEqual(['lent', 'gpt-4o'])
  })

  test('so do those of instrumentation that uses `require` instead of `import`', () => {
    const required = createRequire(import.meta.url)('@opentelemetry/api') as { trace: typeof trace }
    const session = playhead.withSession({ name: 'lent' }, (view) => {
      required.trace.getTracer('cjs').startSpan('from CommonJS').end()
      return view
    })
    expect(namesIn(session)).toEqual(['lent', 'from CommonJS'])
  })

  test('spans outside of any agent are not recorded', () => {
    const { recorded } = playhead.stats()
    trace.getTracer('http').startSpan('GET /').end()
    expect(playhead.stats().recorded).toBe(recorded)
  })
})

test('the program can register its own provider later, and recording continues', () => {
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
