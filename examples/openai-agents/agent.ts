import { Agent, OpenAIProvider, Runner, setTracingDisabled, tool } from '@openai/agents'
import OpenAI from 'openai'
import * as playhead from 'playhead'
import { z } from 'zod'

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

/** Answers one question in a session of its own. */
export function support(question: string): Promise<string> {
  const options = { name: 'support', input: question, tags: ['example', 'openai-agents'] }
  return playhead.withSession(options, () => answer(question))
}

const answer = playhead.agent('Support', async (question: string) => {
  const openAIClient = new OpenAI({ apiKey: process.env.OPENAI_API_KEY ?? 'none' })
  const runner = new Runner({ modelProvider: new OpenAIProvider({ openAIClient }) })
  const { finalOutput } = await runner.run(agent, question)
  return finalOutput ?? ''
})
