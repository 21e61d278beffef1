import { Agent, run as runAgent, setDefaultOpenAIClient, tool } from '@openai/agents'
import OpenAI from 'openai'
import { z } from 'zod'
import { AGENT, getWeather, GPT, SYSTEM } from './weather.mjs'

setDefaultOpenAIClient(new OpenAI({ maxRetries: 0 }))
const agent = new Agent({
  name: AGENT,
  instructions: SYSTEM,
  model: GPT,
  tools: [
    tool({
      name: 'get_weather',
      description: 'Tells the weather.',
      parameters: z.object({ city: z.string(), days: z.number() }),
      execute: getWeather,
    }),
  ],
})

/** The agent in OpenAI Agents, for the programs that instrument it. */
export async function askAgent(question, stream) {
  if (!stream) return (await runAgent(agent, question)).finalOutput
  const result = await runAgent(agent, question, { stream: true })
  await result.completed
  return result.finalOutput
}
