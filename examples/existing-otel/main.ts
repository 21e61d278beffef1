import { trace } from '@opentelemetry/api'
import { NodeSDK } from '@opentelemetry/sdk-node'
import { InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace'
import { inTurns, startScriptedModel } from '@playhead/scripted-model'
import OpenAI from 'openai'
import * as playhead from 'playhead'

// What the application already has: a provider and an exporter.
const exporter = new InMemorySpanExporter()
const ownProcessor = new SimpleSpanProcessor({ exporter })
const sdk = new NodeSDK({
  serviceName: 'example-existing-otel',
  // The second processor is all that is new.
  spanProcessors: [ownProcessor, playhead.playheadSpanProcessor()],
})
sdk.start()
playhead.init()

// Without an API key, a scripted local model answers.
const model = process.env.OPENAI_API_KEY ? undefined : await startScriptedModel(inTurns('Yes, once.'))
const client = new OpenAI(model === undefined ? {} : { apiKey: 'none', baseURL: `${model.url}/v1` })
const tracer = trace.getTracer('shop')

await playhead.withSession({ name: 'support', tags: ['example', 'existing-otel'] }, async (session) => {
  // A span from the application's own instrumentation.
  await tracer.startActiveSpan('load invoice', async (span) => {
    span.setAttribute('invoice.id', 'in_7')
    const { output_text: answer } = await client.responses.create({
      model: 'gpt-5-mini',
      input: 'Was invoice in_7 charged?',
    })
    console.log(answer)
    span.end()
  })
  console.log(`${session.steps.length} steps: ${session.url}`)
})

await ownProcessor.forceFlush()
const names = exporter.getFinishedSpans().map(({ name }) => name)
console.log(`The application's own exporter received: ${names.join(', ')}`)

await playhead.flush()
await sdk.shutdown()
await model?.stop()
