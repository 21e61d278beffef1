import { CallbackHandler } from '@langfuse/langchain'
import { LangfuseSpanProcessor } from '@langfuse/otel'
import { NodeSDK } from '@opentelemetry/sdk-node'
import { langChainAgent } from './langchain-agent.mjs'
import { playhead, run } from './weather.mjs'

const sdk = new NodeSDK({
  spanProcessors: [new LangfuseSpanProcessor({ baseUrl: playhead, publicKey: 'pk', secretKey: 'sk' })],
})
sdk.start()
await run(langChainAgent({ callbacks: [new CallbackHandler()] }), () => sdk.shutdown())
