import * as traceloop from '@traceloop/node-server-sdk'
import OpenAI from 'openai'
import { getWeather, openAiLoop, playhead, run } from './weather.mjs'

traceloop.initialize({
  appName: 'weather',
  baseUrl: playhead,
  apiKey: 'none',
  disableBatch: true,
  silenceInitializationMessage: true,
  instrumentModules: { openAI: OpenAI },
})
const call = (given) =>
  traceloop
    .withTool({ name: 'get_weather' }, async (input) => getWeather(input), given)
    .catch((error) => `Error: ${error.message}`)
const loop = openAiLoop(new OpenAI({ maxRetries: 0 }), call)
await run(
  (question, stream) => traceloop.withWorkflow({ name: 'weather' }, loop, question, stream),
  () => traceloop.forceFlush(),
)
