import {
  BatchTraceProcessor,
  OpenAITracingExporter,
  setTraceProcessors,
  setTracingDisabled,
} from '@openai/agents'
import { askAgent } from './openai-agents.mjs'
import { playhead, run } from './weather.mjs'

const processor = new BatchTraceProcessor(
  new OpenAITracingExporter({ endpoint: `${playhead}/v1/traces/ingest`, apiKey: 'none' }),
)
setTraceProcessors([processor])
setTracingDisabled(false)
await run(askAgent, () => processor.forceFlush())
