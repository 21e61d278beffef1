import { trace } from '@opentelemetry/api'
import { NodeSDK } from '@opentelemetry/sdk-node'
import { InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace'
import OpenAI from 'openai'
import * as playhead from 'playhead'

// What the application already has: a provider and an exporter.
export const exporter = new InMemorySpanExporter()
export const ownProcessor = new SimpleSpanProcessor({ exporter })
export const sdk = new NodeSDK({
  serviceName: 'example-existing-otel',
  // The second processor is all that is new.
  spanProcessors: [ownProcessor, playhead.playheadSpanProcessor()],
})
sdk.start()
playhead.init()

const tracer = trace.getTracer('shop')

/** Answers one question in a session of its own. */
export function support(question: string): Promise<string> {
  const options = { name: 'support', input: question, tags: ['example', 'existing-otel'] }
  return playhead.withSession(options, () =>
    // A span from the application's own instrumentation.
    tracer.startActiveSpan('load invoice', async (span) => {
      span.setAttribute('invoice.id', 'in_7')
      const client = new OpenAI({ apiKey: process.env.OPENAI_API_KEY ?? 'none' })
      const response = await client.responses.create({ model: 'gpt-5-mini', input: question })
      span.end()
      return response.output_text
    }),
  )
}
