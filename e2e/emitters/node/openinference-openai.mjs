import { OpenAIInstrumentation } from '@arizeai/openinference-instrumentation-openai'
import OpenAI from 'openai'
import { provider, withinRoot } from './provider.mjs'
import { openAiLoop, run } from './weather.mjs'

const instrumentation = new OpenAIInstrumentation({ tracerProvider: provider })
instrumentation.manuallyInstrument(OpenAI)
await run(withinRoot(openAiLoop(new OpenAI({ maxRetries: 0 }))), () => provider.shutdown())
