import { expect, test } from 'vitest'
import { outlineOf, runExample } from '../run-example.ts'

test(
  'an application with its own OpenTelemetry keeps it, and its spans join the session',
  { timeout: 120_000 },
  async () => {
    const run = await runExample('existing-otel')
    expect(run.session).toMatchObject({
      name: 'support',
      endState: 'success',
      tags: ['example', 'existing-otel'],
      llmCallCount: 1,
    })
    expect(outlineOf(run)).toEqual(['workflow support', '  other load invoice', '    llm gpt-5-mini'])
    expect(run.steps[1]!.attributes).toMatchObject({ 'invoice.id': 'in_7' })
    expect(run.output).toContain('Its own exporter has them too: chat gpt-5-mini, load invoice, support')
  },
)
