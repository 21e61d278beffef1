import { createOpenAI } from '@ai-sdk/openai'
import { generateText, stepCountIs, tool } from 'ai'
import * as playhead from 'playhead'
import { z } from 'zod'

const customers = new Map([['c_42', { name: 'Ada', plan: 'pro', charges: 1 }]])

const fetchCustomer = playhead.recordTool(
  { name: 'fetch_customer_data', effect: 'read' },
  async ({ customerId }: { customerId: string }) => customers.get(customerId) ?? null,
)

/** Answers one question in a session of its own. */
export function support(question: string): Promise<string> {
  const options = { name: 'support', input: question, tags: ['example', 'vercel-ai'] }
  return playhead.withSession(options, () => answer(question))
}

async function answer(question: string): Promise<string> {
  const openai = createOpenAI({ apiKey: process.env.OPENAI_API_KEY ?? 'none' })
  const { text } = await generateText({
    model: openai('gpt-5-mini'),
    system: 'You answer questions about invoices. The customer is c_42.',
    prompt: question,
    tools: {
      fetch_customer_data: tool({
        description: 'The plan and the charges of a customer',
        inputSchema: z.object({ customerId: z.string() }),
        execute: fetchCustomer,
      }),
    },
    stopWhen: stepCountIs(5),
  })
  return text
}
