import * as agents from '@openai/agents'
import { OpenAIAgentsInstrumentation } from '@arizeai/openinference-instrumentation-openai-agents'
import { askAgent } from './openai-agents.mjs'
import { provider } from './provider.mjs'
import { run } from './weather.mjs'

const instrumentation = new OpenAIAgentsInstrumentation({ tracerProvider: provider })
instrumentation.manuallyInstrument(agents)
agents.setTracingDisabled(false)
await run(askAgent, () => provider.shutdown())
