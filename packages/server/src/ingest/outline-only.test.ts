import { spanToOutline, spanToStep, type Span } from '@playhead/model'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { emitterRuns, spansOfRun } from '../../test/emitters.ts'
import { otlpFolders, otlpRequests } from '../../test/fixtures.ts'
import { decodeTraces, formatOf } from './http/decode-otlp.ts'
import { anySpans } from './test/arbitrary-span.ts'

function recordedSpans(): Span[] {
  const otlp = otlpFolders().flatMap((folder) =>
    otlpRequests(folder)
      .filter(({ path }) => path.endsWith('/v1/traces'))
      .flatMap(({ body, contentType }) => decodeTraces(body, formatOf(body, contentType)).items),
  )
  return [...otlp, ...emitterRuns().flatMap(spansOfRun)]
}

test('an outline is the same whether or not the content is read', () => {
  const spans = recordedSpans()
  expect(spans.length).toBeGreaterThan(1_000)
  for (const span of spans) expect(spanToOutline(span).outline).toEqual(spanToStep(span).outline)
})

test('an outline is the same when texts are recalled that were parsed for another', () => {
  for (const span of recordedSpans()) {
    const { outline } = spanToOutline(span)
    expect(spanToOutline({ ...span }).outline).toEqual(outline)
  }
})

test('an outline is the same for a span whose texts were cut', () => {
  for (const span of recordedSpans()) {
    const cut = { ...span, attributes: cutTexts(span.attributes) }
    expect(spanToOutline(cut).outline).toEqual(spanToStep(cut).outline)
  }
})

test('an outline is the same for any span', () => {
  fc.assert(
    fc.property(anySpans, (spans) => {
      for (const span of spans) expect(spanToOutline(span).outline).toEqual(spanToStep(span).outline)
    }),
    { numRuns: 200 },
  )
})

function cutTexts(attributes: Span['attributes']): Span['attributes'] {
  return Object.fromEntries(
    Object.entries(attributes).map(([key, value]) => [
      key,
      typeof value === 'string' && value.length > 60 ? value.slice(0, -20) : value,
    ]),
  )
}
