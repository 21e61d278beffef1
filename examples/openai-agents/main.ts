import { Agent, OpenAIProvider, Runner, setTracingDisabled, tool } from '@openai/agents'
import { callTool, inTurns, startScriptedModel } from '@playhead/scripted-model'
import OpenAI from 'openai'
import * as playhead from 'playhead'
import { z } from 'zod'

playhead.init({ serviceName: 'example-openai-agents' })

// Without an API key, a scripted local model answers.
const model = process.env.OPENAI_API_KEY ? undefined : await startScriptedModel(script())
const openAIClient = new OpenAI(model === undefined ? {} : { apiKey: 'none', baseURL: `${model.url}/v1` })

// The SDK's own tracing would go to OpenAI.
setTracingDisabled(true)

const customers = new Map([['c_42', { name: 'Ada', plan: 'pro', charges: 1 }]])

const fetchCustomer = playhead.recordTool(
  { name: 'fetch_customer_data', effect: 'read' },
  async ({ customerId }: { customerId: string }) => customers.get(customerId) ?? null,
)

const agent = new Agent({
  name: 'Support',
  model: 'gpt-5-mini',
  instructions: 'You answer questions about invoices. The customer is c_42.',
  tools: [
    tool({
      name: 'fetch_customer_data',
      description: 'The plan and the charges of a customer',
      parameters: z.object({ customerId: z.string() }),
      execute: fetchCustomer,
    }),
  ],
})

const runner = new Runner({ modelProvider: new OpenAIProvider({ openAIClient }) })
const support = playhead.agent('Support', async (question: string) => {
  const { finalOutput } = await runner.run(agent, question)
  return finalOutput
})

await playhead.withSession({ name: 'support', tags: ['example', 'openai-agents'] }, async (session) => {
  console.log(await support('I was charged twice for my subscription'))
  console.log(`Cost: $${session.cost}. Replay: ${session.url}`)
})

await playhead.flush()
await model?.stop()

function script() {
  return inTurns(
    {
      ...callTool('fetch_customer_data', { customerId: 'c_42' }),
      reasoning: 'I have to look at the charges.',
    },
    'You were charged once, Ada. The second line is a hold that goes away by itself.',
  )
}
