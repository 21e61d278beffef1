import { expect, test } from 'vitest'
import { priceStep, spanToStep } from '@playhead/model'
import { createPricer } from '@playhead/model/prices'
import { deriveOutline } from './derive-step.ts'
import { DialectFailures } from './dialect-failures.ts'
import { attributesOf, spanWith } from './test/sample-span.ts'

const pricer = createPricer({ overrides: [] })
const failures = new DialectFailures(() => {})

test('the outline of a step is short, however long its names, errors and tags are', () => {
  const long = 'x'.repeat(1_000_000)
  const outline = deriveOutline(
    spanWith({
      name: long,
      statusCode: 2,
      statusMessage: long,
      attributes: attributesOf({
        'gen_ai.operation.name': 'chat',
        'gen_ai.request.model': long,
        'gen_ai.agent.name': long,
        'playhead.tags': Array.from({ length: 10_000 }, () => long),
        'gen_ai.response.finish_reasons': Array.from({ length: 10_000 }, (_, index) => `reason ${index}`),
      }),
    }),
    pricer,
    failures,
  )

  expect(JSON.stringify(outline).length).toBeLessThan(250_000)
  expect(outline.name).toMatch(/x…$/)
})

test('a step of normal size is not clipped', () => {
  const span = spanWith({
    name: 'chat gpt-4o',
    attributes: attributesOf({ 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'gpt-4o' }),
  })

  expect(deriveOutline(span, pricer, failures)).toEqual(priceStep(spanToStep(span).outline, pricer))
})

test('a surrogate pair is not split', () => {
  const outline = deriveOutline(spanWith({ name: '\u{1f680}'.repeat(2_000) }), pricer, failures)

  expect(outline.name.isWellFormed()).toBe(true)
})
