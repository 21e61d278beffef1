import { createOpenAI } from '@ai-sdk/openai'
import { callTool, inTurns, startScriptedModel } from '@playhead/scripted-model'
import { generateText, stepCountIs, tool } from 'ai'
import * as playhead from 'playhead'
import { z } from 'zod'

playhead.init({ serviceName: 'example-vercel-ai' })

// Without an API key, a scripted local model answers.
const model = process.env.OPENAI_API_KEY ? undefined : await startScriptedModel(script())
const openai = createOpenAI(model === undefined ? {} : { apiKey: 'none', baseURL: `${model.url}/v1` })

const customers = new Map([['c_42', { name: 'Ada', plan: 'pro', charges: 1 }]])

const fetchCustomer = playhead.recordTool(
  { name: 'fetch_customer_data', effect: 'read' },
  async ({ customerId }: { customerId: string }) => customers.get(customerId) ?? null,
)

await playhead.withSession({ name: 'support', tags: ['example', 'vercel-ai'] }, async (session) => {
  const { text } = await generateText({
    model: openai('gpt-5-mini'),
    system: 'You answer questions about invoices. The customer is c_42.',
    prompt: 'I was charged twice for my subscription',
    tools: {
      fetch_customer_data: tool({
        description: 'The plan and the charges of a customer',
        inputSchema: z.object({ customerId: z.string() }),
        execute: fetchCustomer,
      }),
    },
    stopWhen: stepCountIs(5),
  })
  console.log(text)
  console.log(`Cost: $${session.cost}. Replay: ${session.url}`)
})

await playhead.flush()
await model?.stop()

function script() {
  return inTurns(
    callTool('fetch_customer_data', { customerId: 'c_42' }),
    'You were charged once, Ada. The second line is a hold that goes away by itself.',
  )
}
