import { observeOpenAI } from '@langfuse/openai'
import { LangfuseSpanProcessor } from '@langfuse/otel'
import { observe } from '@langfuse/tracing'
import { NodeSDK } from '@opentelemetry/sdk-node'
import OpenAI from 'openai'
import { AGENT, getWeather, openAiLoop, playhead, run } from './weather.mjs'

const sdk = new NodeSDK({
  spanProcessors: [new LangfuseSpanProcessor({ baseUrl: playhead, publicKey: 'pk', secretKey: 'sk' })],
})
sdk.start()
const traced = observe(async (given) => getWeather(given), { name: 'get_weather', asType: 'tool' })
const call = (given) => traced(given).catch((error) => `Error: ${error.message}`)
const loop = openAiLoop(observeOpenAI(new OpenAI({ maxRetries: 0 })), call)
await run(
  observe((question, stream) => loop(question, stream), { name: AGENT, asType: 'agent' }),
  () => sdk.shutdown(),
)
