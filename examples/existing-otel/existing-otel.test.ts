import { expect, test } from 'vitest'
import { outlineOf, runExample } from '../run-example.ts'

test('an application keeps its own OpenTelemetry, and its spans join the session', async () => {
  const run = await runExample('existing-otel')
  expect(run.session).toMatchObject({
    name: 'support',
    endState: 'success',
    tags: ['example', 'existing-otel'],
    llmCallCount: 1,
  })
  expect(outlineOf(run)).toEqual(['workflow support', '  other load invoice', '    llm gpt-5-mini'])
  expect(run.steps[1]!.attributes).toMatchObject({ 'invoice.id': 'in_7' })
  expect(run.output).toContain(
    "The application's own exporter received: chat gpt-5-mini, load invoice, support",
  )
})
