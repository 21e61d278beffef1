import { createOpenAI } from '@ai-sdk/openai'
import { OpenTelemetry } from '@ai-sdk/otel'
import { generateText, isStepCount, registerTelemetry, streamText, tool } from 'ai'
import { z } from 'zod'
import { provider } from './provider.mjs'
import { AGENT, getWeather, GPT, model, run, SYSTEM } from './weather.mjs'

registerTelemetry(new OpenTelemetry())
const openai = createOpenAI({ baseURL: `${model}/v1`, apiKey: 'none' })
const tools = {
  get_weather: tool({
    description: 'Tells the weather.',
    inputSchema: z.object({ city: z.string(), days: z.number() }),
    execute: async (given) => getWeather(given),
  }),
}
const ask = async (prompt, stream) => {
  const options = {
    model: openai.chat(GPT),
    instructions: SYSTEM,
    prompt,
    tools,
    stopWhen: isStepCount(5),
    maxRetries: 0,
    telemetry: { isEnabled: true, functionId: AGENT },
  }
  if (!stream) return (await generateText(options)).text
  return await streamText(options).text
}
await run(ask, () => provider.shutdown())
