import { AnthropicInstrumentation } from '@arizeai/openinference-instrumentation-anthropic'
import Anthropic from '@anthropic-ai/sdk'
import { provider, withinRoot } from './provider.mjs'
import { anthropicLoop, run } from './weather.mjs'

const instrumentation = new AnthropicInstrumentation({ tracerProvider: provider })
instrumentation.manuallyInstrument(Anthropic)
await run(withinRoot(anthropicLoop(new Anthropic({ maxRetries: 0 }))), () => provider.shutdown())
