import { createOpenAI } from '@ai-sdk/openai'
import { Mastra } from '@mastra/core'
import { Agent } from '@mastra/core/agent'
import { createTool } from '@mastra/core/tools'
import { Observability } from '@mastra/observability'
import { OtelExporter } from '@mastra/otel-exporter'
import { z } from 'zod'
import { AGENT, getWeather, GPT, model, playhead, run, SYSTEM } from './weather.mjs'

const openai = createOpenAI({ baseURL: `${model}/v1`, apiKey: 'none' })
const support = new Agent({
  id: AGENT,
  name: AGENT,
  instructions: SYSTEM,
  model: openai.chat(GPT),
  maxRetries: 0,
  tools: {
    get_weather: createTool({
      id: 'get_weather',
      description: 'Tells the weather.',
      inputSchema: z.object({ city: z.string(), days: z.number() }),
      execute: async (given) => getWeather(given),
    }),
  },
})
const provider = { custom: { endpoint: `${playhead}/v1/traces`, protocol: 'http/json' } }
const mastra = new Mastra({
  agents: { support },
  logger: false,
  observability: new Observability({
    configs: { playhead: { serviceName: 'support', exporters: [new OtelExporter({ provider })] } },
  }),
})
const agent = mastra.getAgent('support')
const ask = async (question, stream) =>
  stream ? await (await agent.stream(question)).text : (await agent.generate(question)).text
await run(ask, () => mastra.shutdown())
