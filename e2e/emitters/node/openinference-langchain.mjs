import { LangChainInstrumentation } from '@arizeai/openinference-instrumentation-langchain'
import * as callbackManager from '@langchain/core/callbacks/manager'
import { langChainAgent } from './langchain-agent.mjs'
import { provider } from './provider.mjs'
import { run } from './weather.mjs'

const instrumentation = new LangChainInstrumentation({ tracerProvider: provider })
instrumentation.manuallyInstrument(callbackManager)
await run(langChainAgent(), () => provider.shutdown())
